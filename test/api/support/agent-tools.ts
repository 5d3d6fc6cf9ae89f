import type { AgentCompletion, BackendRun, ToolAnswer } from '../../../domain/ports/external.ts'
import type { Tool } from '../../../domain/ports/index.ts'
import { otherAgent } from './agent-delegation.ts'

const never = new AbortController().signal

/** A tool of the program: it notes what it was called with. `work`: what it does; absent: it answers at once. */
export function noting(
  spec: Partial<Tool['spec']> = {},
  work: Tool['run'] = async (args) => ({ content: `noted ${args.text}` }),
) {
  const calls: { readonly args: object; readonly toolCallId: string }[] = []
  const tool: Tool = {
    spec: {
      ...{
        name: 'notes:add',
        description: 'Keeps a note.',
        effect: 'irreversible',
        paths: {},
        barrier: false,
        control: false,
      },
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      timeLimitMs: 10_000,
      ...spec,
    },
    run: (args, context) => {
      calls.push({ args, toolCallId: context.toolCallId })
      return work(args, context)
    },
  }
  return { tool, calls }
}

/** Another agent that reaches keepup's tools, and what they answered it. */
export function reachingAgent(
  work: (
    call: (name: string, args?: object, signal?: AbortSignal) => Promise<ToolAnswer>,
    run: BackendRun,
  ) => Promise<void>,
) {
  const answers: ToolAnswer[] = []
  const listed: string[][] = []
  const { backend, starts } = otherAgent(async (run): Promise<AgentCompletion> => {
    listed.push((run.tools?.list() ?? []).map(({ name }) => name))
    await work(async (name, args = {}, signal = never) => {
      const answer = await run.tools!.call(name, args as never, signal)
      answers.push(answer)
      return answer
    }, run)
    return { status: { code: 0, signal: null }, success: true, finalText: 'It is written.' }
  })
  return { backend: { ...backend, takesTools: true }, starts, answers, listed }
}
