import { DEFINITION_OPERATIONS } from './definitions/operations.ts'
import { MEMORY_OPERATIONS } from './memory/operations.ts'
import { MODEL_OPERATIONS } from './models/operations.ts'
import { NUMBER_OPERATIONS } from './numbers/operations.ts'
import type { AnyOperation } from './operation.ts'
import { PERMISSION_OPERATIONS } from './permissions/operations.ts'
import { PLAN_OPERATIONS } from './plan/operations.ts'
import { POLICY_OPERATIONS } from './policy/operations.ts'
import { STORE_OPERATIONS } from './store/operations.ts'
import { eraseStream } from './streams/erase.ts'

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
  eraseStream,
] as const

const added: AnyOperation[] = []

/** Operations of kinds that are not in {@link OPERATIONS}. They have no types in the typed client. */
export const ADDED_OPERATIONS: readonly AnyOperation[] = added

/** Adds the operations of a kind. Call it before a server is created. Throws for a name or path that is taken. */
export function addOperations(operations: readonly AnyOperation[]): void {
  for (const one of operations) {
    const taken = [...OPERATIONS, ...added].some(({ name, http }) => name === one.name || http === one.http)
    if (taken) throw new Error(`the operation ${one.name} (${one.http}) exists already; use another name and path`)
    added.push(one)
  }
}
