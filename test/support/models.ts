import { shippedModels } from '../../src/config/shipped-models.ts'
import { createModels, type ModelLayers } from '../../src/core/enrich/models.ts'

/** Models over those that come with the package. */
export const modelsWith = (layers: ModelLayers = {}) =>
  createModels({ shipped: shippedModels(), ...layers })
