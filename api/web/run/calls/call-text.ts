import { isFailure, plain } from '../../../cli/output/event-words.ts'
import type { Payload } from '../../../operations/events/schemas.ts'
import { countText, size } from '../../parts/format.ts'

export type Arguments = Readonly<Record<string, unknown>>

/** The members of an object, or none. Anything in an event may come from a model or a tool. */
export const objectMembers = (value: unknown): Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Arguments) : {}

export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')
export const listOrEmpty = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export type EndedCall = Payload<'tool_call_end'>

/** By tool: the arguments that identify its subject. */
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  run_command: ['command'],
  read_file: ['path'],
  write_file: ['path'],
  list_dir: ['path'],
  search_code: ['query', 'path', 'glob'],
  search_web: ['query'],
  read_url: ['url'],
  delegate_to_agent: ['role', 'task'],
  complete_task: ['summary'],
  advance_phase: ['summary'],
  ask_user: ['question'],
  set_context: ['key'],
  send_message: ['to'],
  publish: ['topic'],
  request_permission: ['tool'],
  create_document: ['title'],
  edit_document: ['doc_id'],
  read_document: ['doc_id'],
}

/** The subject of a call on one line: a command, a path, a query. Other tools: the arguments as JSON. */
export function subjectText(toolName: string, args: unknown): string {
  const members = objectMembers(args)
  const found = (SUBJECTS[toolName] ?? []).map((name) => plain(members[name])).filter(Boolean)
  return found.length > 0 ? found.join(' · ') : Object.keys(members).length > 0 ? plain(args) : ''
}

/** How a call ended, in a few words: `exit 1`, `12 matches`, `NOT_FOUND`. */
export function endText({ toolName, error, detail, result }: EndedCall): string {
  if (error !== undefined) return error.code
  const members = objectMembers(result)
  switch (toolName) {
    case 'run_command':
      return detail?.exitCode === null ? `ended by ${plain(members.signal)}` : `exit ${plain(detail?.exitCode)}`
    case 'write_file':
      return `${members.created === false ? 'replaced' : 'written'}, ${size(Number(members.bytes ?? 0))}`
    case 'read_file':
      return typeof result === 'string' ? countText(result.replace(/\n$/, '').split('\n').length, 'line') : ''
    case 'search_code':
      return found(members.matches, members.truncated, 'match', 'matches')
    case 'search_web':
      return found(members.results, false, 'hit', 'hits')
    case 'list_dir':
      return found(members.entries, members.truncated, 'entry', 'entries')
    default:
      return ''
  }
}

function found(list: unknown, isCut: unknown, one: string, many: string): string {
  const { length } = listOrEmpty(list)
  return isCut === true ? `over ${length} ${many}` : `${length} ${length === 1 ? one : many}`
}

/** The most lines of a failure's reason. */
const LINES = 6

/** Why a call failed: its error, or the last lines that a failed command wrote. Empty: it did not fail, or wrote nothing. */
export function failureText(end: EndedCall): string {
  if (!isFailure(end)) return ''
  if (end.error !== undefined) return end.error.message
  const { stdout, stderr } = objectMembers(end.result)
  const said = textOrEmpty(stderr).trim() === '' ? textOrEmpty(stdout) : textOrEmpty(stderr)
  return said.trimEnd().split('\n').slice(-LINES).join('\n')
}
