import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import type { AgentEvent, EventOf, EventType } from '../../domain/agent/events/events.ts'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { ModelOutcome, Tool, ToolContext, ToolResult } from '../../domain/ports/index.ts'
import { type Answer, harness, seededRandom, type TestPorts, testSpec, toolSpec, USER, withTools } from './harness.ts'
import { VirtualClock } from './time/virtual-clock.ts'

export type Said = Partial<ModelOutcome> | Error | Answer

/** A tool from a function. `ran`: the arguments of its attempts. */
export function tool(
  name: string,
  more: Partial<ToolSpec> = {},
  does: (args: JsonObject, context: ToolContext) => unknown = () => 'ok',
  probe?: Tool['probe'],
): Tool & { ran: JsonObject[] } {
  const ran: JsonObject[] = []
  return {
    ran,
    spec: toolSpec(name, more),
    async run(args, context): Promise<ToolResult> {
      ran.push(args)
      return { content: ((await does(args, context)) ?? null) as never }
    },
    ...(probe === undefined ? {} : { probe }),
  }
}

/** Puts the whole event of a result into a blob: a result's text alone would be stored separately. */
export const LONG_DETAIL = { long: 'x'.repeat(100_000) }

/** A tool whose calls end with events in blobs. */
export const longTool = (name: string, more: Partial<ToolSpec> = {}): Tool => ({
  ...tool(name, more),
  run: async () => ({ content: 'ok', detail: LONG_DETAIL }),
})

export interface Given {
  /** The model's answers, call by call. The last one repeats. */
  readonly says: readonly Said[]
  readonly tools?: readonly Tool[]
  readonly spec?: Record<string, unknown>
  readonly task?: string | null
  readonly ports?: TestPorts
}

/** A run with its task, driven on demand, on a separate clock. */
export async function given({ says, tools = [], spec = {}, task = 'do it', ports = {} }: Given) {
  const clock = new VirtualClock()
  const answer: Answer = (request, n) => {
    const said = says[Math.min(n, says.length) - 1]!
    return typeof said === 'function' ? said(request, n) : said
  }
  const h = harness(answer, { tools, ports: { clock, ...ports } })
  const runId = await h.start(testSpec(spec, tools), task)
  const all = () => h.events(runId)
  let processes = 0
  return {
    ...h,
    clock,
    runId,
    drive: (signal = new AbortController().signal) => h.runtime.drive(runId, { signal }),
    say: (command: UserCommand, key?: string) =>
      h.runtime.execute(runId, command, { by: USER, ...(key === undefined ? {} : { key }) }),
    events: all,
    types: () => h.types(runId),
    state: async () => (await h.runtime.at(runId, null)).state,
    of: async <T extends EventType>(type: T) =>
      (await all()).filter((event): event is EventOf<T> & AgentEvent => event.type === type),
    /** The outcomes of the calls, in order: the code, or ok. */
    async ends() {
      return (await all()).flatMap((event) =>
        event.type === 'tool_call_end' ? [`${event.body.toolName}: ${event.body.error?.code ?? 'ok'}`] : [],
      )
    },
    /** The message at the end of the nth call. */
    async message(n = 0) {
      return (await all()).filter((event) => event.type === 'tool_call_end')[n]?.body.error?.message
    },
    offered: (n: number) => h.requests[n]?.tools.map(({ name }) => name) ?? [],
    seen: (n: number) => h.requests[n]?.messages ?? [],
    /** The same log in another process, with different random bytes. */
    elsewhere: ({ environment, ...more }: TestPorts = {}) =>
      new Runtime({
        ...h.ports,
        random: seededRandom(`elsewhere ${processes++}`),
        ...more,
        ...(environment && { environment: withTools(environment, h.tools) }),
      }),
    call: (turn: number, index = 0) => `${runId}.t${turn}.c${index}`,
  }
}
