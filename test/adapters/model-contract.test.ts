import type { ServerResponse } from 'node:http'
import { afterEach, describe } from 'vitest'
import { anthropicProvider } from '../../adapters/models/anthropic/provider.ts'
import { openaiProvider } from '../../adapters/models/openai/provider.ts'
import { scriptedProvider } from '../../adapters/models/scripted/provider.ts'
import { parseScript, type ScriptInput } from '../../adapters/models/scripted/script.ts'
import { callBlock, start, stop, streamEvents, textBlock, writeEvents } from '../support/models/anthropic-wire.ts'
import { modelKit } from '../support/models/model-kit.ts'
import { call, delta, finish, streamChunks, usage, writeChunks } from '../support/models/openai-wire.ts'
import { beginStream, type Loopback, loopback, sendJson } from '../support/network/loopback.ts'

const servers: Loopback[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(answer: (res: ServerResponse) => void): Promise<string> {
  const server = await loopback(answer)
  servers.push(server)
  return server.url
}

const overloaded = (res: ServerResponse) =>
  sendJson(res, 529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } })

describe('anthropic', () => {
  const provider = async (answer: (res: ServerResponse) => void) =>
    anthropicProvider({ apiKey: 'k', baseUrl: await serve(answer) })
  modelKit({
    answering: () =>
      provider((res) =>
        streamEvents(res, [
          start(),
          ...textBlock(0, 'Reading ', 'it.'),
          ...callBlock(1, 't1', 'read_file', '{"path":"a"}'),
          ...callBlock(2, 't1', 'read_file', '{"path"', ':"a"}'),
          ...stop('tool_use'),
        ]),
      ),
    failing: () => provider(overloaded),
    hanging: () =>
      provider((res) => {
        beginStream(res)
        writeEvents(res, [start(), ...textBlock(0, 'Reading ')])
      }),
  })
})

describe('openai', () => {
  const provider = async (answer: (res: ServerResponse) => void) =>
    openaiProvider({ apiKey: 'k', baseUrl: await serve(answer) })
  modelKit({
    answering: () =>
      provider((res) =>
        streamChunks(res, [
          delta({ content: 'Reading ' }),
          delta({ content: 'it.' }),
          call({ index: 0, id: 'c', name: 'read_file', args: '{"path":"a"}' }),
          call({ index: 1, name: 'read_file', args: '{"path":"a"}' }),
          finish('tool_calls'),
          usage({ prompt_tokens: 5, completion_tokens: 6 }),
        ]),
      ),
    failing: () => provider(overloaded),
    hanging: () =>
      provider((res) => {
        beginStream(res)
        writeChunks(res, [delta({ content: 'Reading ' })])
      }),
  })
})

describe('scripted', () => {
  type Turn = ScriptInput['turns'][number]
  const provider = async (...turns: Turn[]) => scriptedProvider(parseScript({ script: 1, turns }, 'kit'))
  const reading: Turn = {
    label: 'read',
    goto: 'read',
    text: 'Reading it.',
    calls: [
      { tool: 'read_file', arguments: { path: 'a' } },
      { tool: 'read_file', argumentsText: '{"path":"a"}' },
    ],
  }
  modelKit({
    answering: () => provider(reading),
    failing: () => provider({ fail: { code: 'NETWORK', times: 9 } }),
    hanging: () => provider({ text: 'word '.repeat(100_000) }),
  })
})
