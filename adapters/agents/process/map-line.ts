import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { jsonSize } from '../../../domain/log/json-size.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import type { LineMapping } from './cli-agent.ts'
import type { OutputLine } from './lines.ts'

/** Deeper or larger JSON costs too much to parse. */
const MAX_DEPTH = 100
const MAX_VALUES = 100_000

const one = (kind: AgentEventBody['kind'], message: string): Mapped => ({ events: [{ kind, message }] })

/** Maps a line with its backend's mapping. A line that cannot be mapped becomes an event without the line's content. */
export function mapLine(line: OutputLine, mapping: Pick<LineMapping, 'line'>): Mapped {
  const parsed = parseLine(line)
  if ('instead' in parsed) return parsed.instead
  try {
    return mapping.line(parsed.object)
  } catch {
    return one('Unknown', 'a line of an unexpected shape')
  }
}

/** The JSON object of a line, or the event that replaces the line. */
export function parseLine(line: OutputLine): { readonly object: JsonObject } | { readonly instead: Mapped } {
  if (line === null) return { instead: one('Error', 'a line of over 1 MiB was dropped') }
  const { depth, values } = jsonSize(line)
  if (depth > MAX_DEPTH || values > MAX_VALUES)
    return { instead: one('Error', 'a line of too many or too deep values was dropped') }
  try {
    const value: unknown = JSON.parse(line)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { object: value as JsonObject }
  } catch {
    // The line is not JSON.
  }
  return { instead: one('Unknown', 'a line that is no JSON object') }
}
