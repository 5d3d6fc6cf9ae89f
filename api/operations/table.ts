import { ACCESS_OPERATIONS } from './access/operations.ts'
import { ANNOTATION_OPERATIONS } from './annotation/operations.ts'
import { APPROVAL_OPERATIONS } from './approvals/operations.ts'
import { QUESTION_OPERATIONS } from './ask/operations.ts'
import { CONSUMER_OPERATIONS } from './consumers/operations.ts'
import { DECISION_OPERATIONS } from './decisions/operations.ts'
import { DEFINITION_OPERATIONS } from './definitions/operations.ts'
import { DOCTOR_OPERATIONS } from './doctor/operations.ts'
import { DOCUMENT_OPERATIONS } from './document/operations.ts'
import { EVENT_OPERATIONS } from './events/operations.ts'
import { EXTERNAL_OPERATIONS } from './external/operations.ts'
import { FILE_OPERATIONS } from './files/operations.ts'
import { HISTORY_OPERATIONS } from './history/operations.ts'
import { KEEPING_OPERATIONS } from './keeping/operations.ts'
import { LOSS_OPERATIONS } from './losses/operations.ts'
import { MEMORY_OPERATIONS } from './memory/operations.ts'
import { MESSAGE_OPERATIONS } from './messages/operations.ts'
import { MODEL_OPERATIONS } from './models/operations.ts'
import { NUMBER_OPERATIONS } from './numbers/operations.ts'
import type { AnyOperation } from './operation.ts'
import { PERMISSION_OPERATIONS } from './permissions/operations.ts'
import { PLAN_OPERATIONS } from './plan/operations.ts'
import { POLICY_OPERATIONS } from './policy/operations.ts'
import { PROOF_OPERATIONS } from './proof/operations.ts'
import { RUN_OPERATIONS } from './runs/operations.ts'
import { SEARCH_OPERATIONS } from './search/operations.ts'
import { STORE_OPERATIONS } from './store/operations.ts'
import { STREAM_OPERATIONS } from './streams/operations.ts'
import { SYSTEM_OPERATIONS } from './system/operations.ts'
import { TELEMETRY_OPERATIONS } from './telemetry/operations.ts'
import { THREAD_OPERATIONS } from './thread/operations.ts'
import { TRACE_OPERATIONS } from './trace/operations.ts'
import { WEBHOOK_OPERATIONS } from './webhooks/operations.ts'
import { WINDOW_OPERATIONS } from './window/operations.ts'

/** Every operation, except event streams, bytes, and the sessions of the page, which only HTTP has. */
export const OPERATIONS = [
  ...ACCESS_OPERATIONS,
  ...ANNOTATION_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...CONSUMER_OPERATIONS,
  ...DECISION_OPERATIONS,
  ...DEFINITION_OPERATIONS,
  ...DOCTOR_OPERATIONS,
  ...DOCUMENT_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...EXTERNAL_OPERATIONS,
  ...FILE_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...KEEPING_OPERATIONS,
  ...LOSS_OPERATIONS,
  ...MEMORY_OPERATIONS,
  ...MESSAGE_OPERATIONS,
  ...MODEL_OPERATIONS,
  ...NUMBER_OPERATIONS,
  ...PERMISSION_OPERATIONS,
  ...PLAN_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...PROOF_OPERATIONS,
  ...RUN_OPERATIONS,
  ...QUESTION_OPERATIONS,
  ...SEARCH_OPERATIONS,
  ...STORE_OPERATIONS,
  ...STREAM_OPERATIONS,
  ...SYSTEM_OPERATIONS,
  ...TELEMETRY_OPERATIONS,
  ...THREAD_OPERATIONS,
  ...TRACE_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...WINDOW_OPERATIONS,
] as const

const added: AnyOperation[] = []

/** Two paths that differ only in the names of their parameters are one path. */
const withoutNames = (http: string): string => http.replaceAll(/\{\w+\}/g, '{}')

/** Operations of kinds that are not in {@link OPERATIONS}. They have no types in the typed client. */
export const ADDED_OPERATIONS: readonly AnyOperation[] = added

/** Adds the operations of a kind. Call it before a server is created. Throws for a name or path that is taken. */
export function addOperations(operations: readonly AnyOperation[]): void {
  for (const one of operations) {
    const taken = [...OPERATIONS, ...added].some(
      ({ name, http }) => name === one.name || withoutNames(http) === withoutNames(one.http),
    )
    if (taken) throw new Error(`the operation ${one.name} (${one.http}) exists already; use another name and path`)
    added.push(one)
  }
}
