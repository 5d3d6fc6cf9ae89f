import { DEFINITION_OPERATIONS } from './definitions/operations.ts'
import { MEMORY_OPERATIONS } from './memory/operations.ts'
import { MODEL_OPERATIONS } from './models/operations.ts'
import { NUMBER_OPERATIONS } from './numbers/operations.ts'
import { PERMISSION_OPERATIONS } from './permissions/operations.ts'
import { PLAN_OPERATIONS } from './plan/operations.ts'
import { POLICY_OPERATIONS } from './policy/operations.ts'
import { STORE_OPERATIONS } from './store/operations.ts'

/** All operations defined as objects. The others are still separate routes. */
export const OPERATIONS = [
  ...DEFINITION_OPERATIONS,
  ...MEMORY_OPERATIONS,
  ...MODEL_OPERATIONS,
  ...NUMBER_OPERATIONS,
  ...PERMISSION_OPERATIONS,
  ...PLAN_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...STORE_OPERATIONS,
] as const
