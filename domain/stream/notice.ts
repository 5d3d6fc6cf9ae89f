/** The reasons for which keepup tells a person something. */
export const NOTICE_TYPES = [
  'approval_asked',
  'question_asked',
  'outcome_unknown',
  'budget_low',
  'budget_used',
  'run_ended',
  'stream_parked',
] as const
export type NoticeType = (typeof NOTICE_TYPES)[number]

/** What a kind of stream says about one of its events. `title` is one line without texts of models and tools. */
export interface EventNotice {
  readonly type: NoticeType
  readonly title: string
}

/** The longest name of a tool or code in a title, in characters. */
const LONGEST_NAME = 100

/** One line without control characters, at most `most` characters long. */
export function shortLine(text: string, most = LONGEST_NAME): string {
  const line = (/[^\n\r\u2028\u2029]*\S[^\n\r\u2028\u2029]*/.exec(text)?.[0] ?? '')
    .replace(/[\p{Cc}\p{Cf}]/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`
}
