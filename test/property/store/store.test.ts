import { modelCases } from '../../support/store/model-cases.ts'
import { inlineStore } from '../../unit/store/inline-store.ts'

modelCases(inlineStore, 150)
