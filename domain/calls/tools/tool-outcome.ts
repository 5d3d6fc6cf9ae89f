import type { EventPlace } from '../../log/body-parts.ts'
import type { Attachment } from '../events/event-parts.ts'
import type { CallBodyOf } from '../events/events.ts'
import type { ToolResult } from './tool-call.ts'
import type { ToolMeaning } from './tool-spec.ts'
// Outcomes of attempts, as the driver reports them: redacted, and never refused.

export interface ToolSucceeded {
  readonly kind: 'tool_succeeded'
  readonly toolCallId: string
  readonly toolName: string
  readonly attempt: number
  readonly durationMs: number
  readonly result: ToolResult
  /** The whole result, if `result` shows only a part: its attachment, and the bytes to store before the append. */
  readonly attached?: { readonly attachment: Attachment; readonly bytes: Uint8Array }
  readonly tested?: CallBodyOf<'tool_call_end'>['tested']
  /** The findings equal the recorded ones. */
  readonly reused?: EventPlace
}

export type ToolOutcome =
  | ToolSucceeded
  | {
      readonly kind: 'tool_failed'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly error: { code: string; message: string; transient: boolean; beforeEffect: boolean }
    }
  /** The tool changed, so nothing was done. `fits`: the changed tool accepts the arguments. `reason`: a sentence. */
  | {
      readonly kind: 'tool_changed'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly tool: ToolMeaning
      readonly fits: boolean
      readonly reason: string
    }
  /** Nothing was done, because a file that the approval depends on has changed. `reason`: a sentence. */
  | {
      readonly kind: 'files_changed'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly reason: string
    }
  /** The end of the call was not seen, and no probe could determine whether it happened. `reason`: a sentence. */
  | {
      readonly kind: 'tool_in_doubt'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly reason: string
      readonly reused?: EventPlace
    }
