import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Block, Usage } from '../../../domain/calls/content.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import { wireName } from '../../../domain/calls/tools/tool-spec.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { ModelOutcome, ModelProvider, ModelRequest } from '../../../domain/ports/index.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'
import { IN_RESULT, PLACEHOLDER, type Script, type Turn } from './script.ts'
import { marker, type Scene, type ScriptPlace, sceneOf, scriptPlaceOf } from './script-position.ts'
import { pointed } from './value-in-result.ts'

const LASTING = new Set(['AUTHENTICATION', 'INVALID_REQUEST'])

/**
 * Plays a script behind the ModelProvider port. The answer is a function of the request (format and rules: script.ts).
 * Rejects with ModelError SCRIPT_EXHAUSTED if no turn remains.
 */
export function scriptedProvider(script: Script): ModelProvider {
  const failed = new Map<string, number>()
  return {
    id: 'scripted',
    async call(request, { signal, onText }) {
      signal.throwIfAborted()
      if (request.tools.length === 0) return stream(summaryOf(script, request), signal, onText)
      const scene = sceneOf(request)
      const place = scriptPlaceOf(script, request, scene)
      const turn = place.turn ?? exhausted(script, place, scene)
      if (turn.delayMs) await pause(turn.delayMs, signal)
      failIfTold(turn, place, request, failed)
      return stream(play(script, turn, place, scene, request), signal, onText)
    },
  }
}

function play(script: Script, turn: Turn, place: ScriptPlace, scene: Scene, request: ModelRequest): ModelOutcome {
  const fill = filler(scene, place)
  const content: Block[] = [marker(place)]
  if (turn.text !== undefined) content.push({ type: 'text', text: fill(turn.text) })
  turn.calls?.forEach((call, i) => {
    const args =
      call.argumentsText === undefined
        ? { input: fillJson(call.arguments ?? {}, fill) }
        : { input_text: fill(call.argumentsText) }
    content.push({ type: 'tool_use', id: callId(place, i), name: wireName(call.tool), ...args })
  })
  const said = content.slice(1)
  return {
    content,
    stopReason: turn.stop ?? (turn.calls?.length ? 'tool_use' : 'end_turn'),
    usage: { ...estimate(request, JSON.stringify(said)), ...given(turn.usage) },
    servedBy: script.model,
  }
}

const callId = ({ part, index }: ScriptPlace, i: number): string =>
  `script_${part === -1 ? '' : `p${part + 1}_`}t${index + 1}_c${i + 1}`

function summaryOf(script: Script, request: ModelRequest): ModelOutcome {
  return {
    content: [{ type: 'text', text: script.summary }],
    stopReason: 'end_turn',
    usage: estimate(request, script.summary),
    servedBy: script.model,
  }
}

/** Estimates four characters per token. An earlier answer counts 100 characters per block. */
function estimate(request: ModelRequest, said: string): Usage {
  let size = request.system.length
  for (const message of request.messages) {
    size += message.role === 'assistant' ? 100 * message.content.length : message.content.length
  }
  return { input: Math.ceil(size / 4), output: Math.ceil(said.length / 4), cacheRead: 0, cacheWrite: 0 }
}

const given = (usage: Turn['usage']): Partial<Usage> =>
  Object.fromEntries(Object.entries(usage ?? {}).filter(([, v]) => v !== undefined))

function filler(scene: Scene, place: ScriptPlace): (text: string) => string {
  const values: Record<string, string> = { ...scene, offered: '', lastResultIsError: '', turn: String(place.index + 1) }
  return (text) =>
    text.replaceAll(PLACEHOLDER, (whole, escaped: string, name: string) =>
      escaped ? whole.slice(1) : name.startsWith(IN_RESULT) ? pointed(scene.lastResult, name) : (values[name] ?? whole),
    )
}

function fillJson(value: Json, fill: (text: string) => string): Json {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((item: Json) => fillJson(item, fill))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillJson(item, fill)]))
}

async function stream(
  outcome: ModelOutcome,
  signal: AbortSignal,
  onText: ((text: string) => void) | undefined,
): Promise<ModelOutcome> {
  if (!onText) return outcome
  const yieldToEventLoop = yielder()
  for (const block of outcome.content) {
    if (block.type !== 'text') continue
    for (const [piece] of String(block.text).matchAll(/\s*\S+\s*/gu)) {
      onText(piece)
      await yieldToEventLoop()
      signal.throwIfAborted()
    }
  }
  return outcome
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error
  }
}

function failIfTold({ fail }: Turn, place: ScriptPlace, request: ModelRequest, failed: Map<string, number>): void {
  if (!fail) return
  const hash = createHash('sha256')
    .update(JSON.stringify([request.system, request.messages]))
    .digest('base64')
  const key = `${place.part}.${place.index}.${hash}`
  const times = failed.get(key) ?? 0
  if (times >= fail.times) {
    failed.delete(key)
    return
  }
  failed.set(key, times + 1)
  throw new ModelError(fail.code, `scripted: turn ${place.index + 1} fails as told (${times + 1} of ${fail.times})`, {
    transient: !LASTING.has(fail.code),
  })
}

/** A failed call is often why no turn fits, so the message repeats it. */
function exhausted(script: Script, { part, index }: ScriptPlace, scene: Scene): never {
  const where = part === -1 ? 'turns' : `parts[${part}] "${script.parts[part]?.name ?? ''}"`
  const failed = scene.lastResultIsError ? `the last call failed: ${shortened(scene.lastResult)}; ` : ''
  throw new ModelError(
    'SCRIPT_EXHAUSTED',
    `the script "${script.model}" has no turn left (${where}, after ${index}); ${failed}` +
      'add a turn whose "when" holds here, or end with one that calls complete_task',
  )
}

const MAX_SHOWN = 120

function shortened(result: string): string {
  const line = [...result.replace(/\s+/g, ' ').trim()]
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).join('')}…` : line.join('')
}
