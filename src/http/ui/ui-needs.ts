import type { Ledger } from '../../book/rows/ledger.ts'
import type { AppDeps, UiSource } from '../context.ts'

/** What the pages need of the service. */
export interface UiNeeds
  extends Pick<
    AppDeps,
    | 'access'
    | 'admission'
    | 'budgets'
    | 'health'
    | 'logger'
    | 'maxBodyBytes'
    | 'originals'
    | 'pool'
    | 'savings'
    | 'sharing'
  > {
  readonly ledger: Ledger
  readonly ui: UiSource
}
