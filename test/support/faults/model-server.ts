import type { ServerResponse } from 'node:http'
import { call, delta, finish, streamChunks, usage } from '../models/openai-wire.ts'
import { type Got, type Loopback, loopback } from '../network/loopback.ts'

const counted = usage({ prompt_tokens: 10, completion_tokens: 5 })

/** One answer of a server with the OpenAI wire format. */
export type Answer = (res: ServerResponse, got: Got) => void

/** A call of a tool; `args`: its raw text, or a value. */
export const calls =
  (name: string, args: unknown): Answer =>
  (res, got) =>
    streamChunks(res, [
      delta({ role: 'assistant', content: '' }),
      call({
        index: 0,
        id: `call_${(got.body.messages as unknown[]).length}`,
        name,
        args: typeof args === 'string' ? args : JSON.stringify(args),
      }),
      finish('tool_calls'),
      counted,
    ])

export const completes = (summary = 'Done.'): Answer => calls('complete_task', { summary })

export const says =
  (text: string): Answer =>
  (res) => {
    streamChunks(res, [delta({ role: 'assistant', content: text }), finish('stop'), counted])
  }

/** A server that gives the answers in turn and repeats the last one; with the variables for its address. */
export async function modelServer(...answers: [Answer, ...Answer[]]) {
  let n = 0
  const server: Loopback = await loopback((res, got) => answers[Math.min(n++, answers.length - 1)]!(res, got))
  return { ...server, env: { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test-0123456789abcdef' } }
}

/** All text of a request to the model. */
export const heard = ({ body }: Got): string => JSON.stringify(body.messages)
