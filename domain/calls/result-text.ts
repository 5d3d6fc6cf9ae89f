import type { Json } from '../log/json.ts'
import type { CallBodyOf } from './events/events.ts'
import { byteLength, headAndTail, RESULT_BYTES } from './truncate.ts'
/** The approximate size of a result in the messages, in bytes. Tools that truncate their own results stay below it. */
export const SHOWN_BYTES = RESULT_BYTES + 1_024

/** The end of a call as the model reads it. `hint`: how to read on after the head of a truncated result. */
export const outcomeText = (
  { success, result, error }: Pick<CallBodyOf<'tool_call_end'>, 'success' | 'result' | 'error'>,
  hint: (head: string) => string,
): string => shownText(success ? resultText(result ?? null) : `${error?.code}: ${error?.message}`, hint)

/** Long text is shown as head, tail and size. The log contains the whole text. */
export function shownText(text: string, hint: (head: string) => string): string {
  if (text.length * 3 <= SHOWN_BYTES || byteLength(text.replace(ESCAPES, '_')) <= SHOWN_BYTES) return text
  return headAndTail(text, RESULT_BYTES, hint)
}

/** JSON escapes. A tool that limits its text does not count them. */
const ESCAPES = /\\(?:u[0-9a-f]{4}|.)/g

/** A result as the model reads it: a string unchanged, any other value as JSON. */
export function resultText(result: Json): string {
  return typeof result === 'string' ? result : JSON.stringify(result)
}
