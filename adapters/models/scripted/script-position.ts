import type { Message } from '../../../domain/calls/content.ts'
import { wireName } from '../../../domain/calls/tools/tool-spec.ts'
import type { ModelRequest } from '../../../domain/ports/index.ts'
import type { Script, Turn, When } from './script.ts'

/** The values of a request for conditions and placeholders. */
export interface Scene {
  readonly system: string
  readonly lastResult: string
  readonly lastResultIsError: boolean
  readonly lastInput: string
  readonly firstInput: string
  readonly offered: ReadonlySet<string>
}

/** The turn to play: its part (-1: the script's own `turns`) and index. `turn` undefined: the script is exhausted. */
export interface ScriptPlace {
  readonly part: number
  readonly index: number
  readonly turn: Turn | undefined
}

/** The block that marks an answer with its turn of the script. Other providers do not send it. */
export const marker = (place: ScriptPlace) => ({ type: 'script', part: place.part, turn: place.index }) as const

export function sceneOf(request: ModelRequest): Scene {
  const { messages } = request
  const inputs = (m: Message) => m.role === 'user'
  const results = messages
    .slice(messages.findLastIndex((m) => m.role === 'assistant') + 1)
    .filter((m) => m.role === 'tool')
  return {
    system: request.system,
    lastResult: results.map((m) => m.content).join('\n'),
    lastResultIsError: results.some((m) => m.isError),
    lastInput: (messages.findLast(inputs)?.content as string | undefined) ?? '',
    firstInput: (messages.find(inputs)?.content as string | undefined) ?? '',
    offered: new Set(request.tools.map((t) => t.name)),
  }
}

/**
 * The conversation's place in the script. The newest marked answer names the last played turn, so the place survives a
 * resume, a fork or a compressed history. Later answers of other models count one turn each.
 */
export function scriptPlaceOf(script: Script, request: ModelRequest, scene: Scene): ScriptPlace {
  const last = lastPlayed(request.messages)
  const part = last.part ?? script.parts.findIndex((p) => holds(p.when, scene))
  const turns = part === -1 ? script.turns : (script.parts[part]?.turns ?? [])
  let index = after(turns, last.index) + last.unmarked
  while (index < turns.length && !plays(turns[index]!, scene)) index += 1
  return { part, index, turn: turns[index] }
}

/** The index after a played turn. */
function after(turns: readonly Turn[], played: number | null): number {
  if (played === null) return 0
  const goto = turns[played]?.goto
  return goto === undefined ? played + 1 : turns.findIndex((turn) => turn.label === goto)
}

const plays = ({ when }: Turn, scene: Scene): boolean => !when || holds(when, scene)

function lastPlayed(messages: readonly Message[]): { part: number | null; index: number | null; unmarked: number } {
  let unmarked = 0
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i]!
    if (message.role !== 'assistant') continue
    const mark = message.content.find((block) => block.type === 'script')
    if (mark && Number.isSafeInteger(mark.turn) && Number.isSafeInteger(mark.part)) {
      return { part: mark.part as number, index: mark.turn as number, unmarked }
    }
    unmarked += 1
  }
  return { part: null, index: null, unmarked }
}

function holds(when: When, scene: Scene): boolean {
  return (
    (when.lastResultContains === undefined || scene.lastResult.includes(when.lastResultContains)) &&
    (when.lastResultIsError === undefined || scene.lastResultIsError === when.lastResultIsError) &&
    (when.lastInputContains === undefined || scene.lastInput.includes(when.lastInputContains)) &&
    (when.firstInputContains === undefined || scene.firstInput.includes(when.firstInputContains)) &&
    (when.systemContains === undefined || scene.system.includes(when.systemContains)) &&
    (when.offered === undefined || scene.offered.has(wireName(when.offered))) &&
    (when.notOffered === undefined || !scene.offered.has(wireName(when.notOffered)))
  )
}
