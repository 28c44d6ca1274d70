import { recordCases } from '../../support/store/record-cases.ts'
import { inlineStore } from './inline-store.ts'

recordCases(inlineStore)
