import { partCases } from '../../support/store/part-cases.ts'
import { inlineStore } from '../../unit/store/inline-store.ts'

partCases(inlineStore, 60)
