import type { AgentEventBody } from '../../domain/external/agent-event.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import { jsonSize } from '../../domain/log/json-size.ts'
import type { Mapped } from '../../domain/ports/external.ts'
import type { LineMapping } from './cli-agent.ts'
import type { Line } from './lines.ts'

/** Deeper or larger JSON costs more than it can tell. */
const MAX_DEPTH = 100
const MAX_VALUES = 100_000

const one = (kind: AgentEventBody['kind'], message: string): Mapped => ({ events: [{ kind, message }] })

/** A line as its backend maps it. What cannot be mapped becomes an event that repeats nothing of the line. */
export function mapLine(line: Line, mapping: Pick<LineMapping, 'line'>): Mapped {
  if (line === null) return one('Error', 'a line of over 1 MiB was dropped')
  const { depth, values } = jsonSize(line)
  if (depth > MAX_DEPTH || values > MAX_VALUES) return one('Error', 'a line of too many or too deep values was dropped')
  const value = parsed(line)
  if (value === null) return one('Unknown', 'a line that is no JSON object')
  try {
    return mapping.line(value)
  } catch {
    return one('Unknown', 'a line of an unexpected shape')
  }
}

function parsed(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}
