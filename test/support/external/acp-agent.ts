import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream, RequestError, type ToolCallUpdate } from '@agentclientprotocol/sdk'

// An agent that speaks the Agent Client Protocol with its official package: acp-agent.ts <behaviour as JSON>.

interface Behaviour {
  readonly version?: number
  readonly resumes?: 'load' | 'resume'
  readonly dirs?: boolean
  readonly stop?: 'end_turn' | 'refusal' | 'max_tokens'
  readonly refuses?: number
  readonly diesIn?: 'prompt'
  readonly noise?: boolean
  readonly stays?: boolean
  readonly chunks?: number
  readonly shows?: boolean
  /** Sends messages outside this session: an unexpected answer, a line without a method, another session. */
  readonly strays?: string
}
const behaviour = JSON.parse(process.argv[2] ?? '{}') as Behaviour
const loud = (text: string) => process.stdout.write(`${text}\n`)
const text = (value: string) => ({ type: 'text', text: value }) as const

if (behaviour.stays) {
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  setInterval(() => undefined, 1_000_000)
}

const say = (sessionId: string, value: string) => ({
  sessionId,
  update: { sessionUpdate: 'agent_message_chunk', content: text(value) } as const,
})

agent({ name: 'fake' })
  .onRequest('initialize', () => ({
    protocolVersion: behaviour.version ?? 1,
    agentCapabilities: {
      loadSession: behaviour.resumes === 'load',
      sessionCapabilities: {
        ...(behaviour.resumes === 'resume' && { resume: {} }),
        ...(behaviour.dirs && { additionalDirectories: {} }),
      },
    },
  }))
  .onRequest('session/new', ({ params }) => {
    if (behaviour.refuses !== undefined) throw new RequestError(behaviour.refuses, 'the raw reason')
    return { sessionId: `new in ${params.cwd} with ${(params.additionalDirectories ?? []).join()}` }
  })
  .onRequest('session/load', async ({ params, client }) => {
    await client.notify('session/update', say(params.sessionId, 'said before'))
    return {}
  })
  .onRequest('session/resume', () => ({}))
  .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
    const update = (value: object) => client.notify('session/update', { sessionId, update: value } as never)
    if (behaviour.noise) {
      loud('not a message')
      loud('x'.repeat(2 * 1024 * 1024))
      loud('{"jsonrpc":"2.0","method":"_unheard/of","params":{}}')
    }
    if (behaviour.strays !== undefined) {
      loud(JSON.stringify({ jsonrpc: '2.0', id: behaviour.strays, result: {} }))
      loud(JSON.stringify({ jsonrpc: '2.0', [behaviour.strays]: 1 }))
      await client.notify('session/update', say(behaviour.strays, behaviour.strays))
    }
    await client.notify('session/update', say(sessionId, 'I look.'))
    if (behaviour.diesIn === 'prompt') process.exit(9)
    const shown = {
      kind: 'edit',
      locations: [{ path: '/w/out' }],
      content: [{ type: 'diff', path: '/w/out', newText: 'x' }],
    }
    const told = behaviour.shows ? shown : { kind: 'read', rawInput: { path: 'note' } }
    const toolCall = { toolCallId: 't1', title: 'cat note', status: 'pending', ...told } as ToolCallUpdate
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall,
      options: [
        { optionId: 'y', name: 'Yes', kind: 'allow_once' },
        { optionId: 'n', name: 'No', kind: 'reject_once' },
      ],
    })
    const chosen = outcome.outcome === 'selected' ? outcome.optionId : 'cancelled'
    await update({ sessionUpdate: 'tool_call', ...toolCall })
    const status = chosen === 'y' ? 'completed' : 'failed'
    await update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status, rawOutput: `chosen ${chosen}` })
    await update({ sessionUpdate: 'agent_thought_chunk', content: text('hm') })
    await update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.25, currency: 'USD' } })
    for (let chunk = 0; chunk < (behaviour.chunks ?? 0); chunk++)
      await client.notify('session/update', say(sessionId, '.'))
    const asked = prompt.map((block) => (block.type === 'text' ? block.text : '')).join('')
    await client.notify('session/update', say(sessionId, `done: `))
    await client.notify('session/update', say(sessionId, asked))
    return {
      stopReason: behaviour.stop ?? 'end_turn',
      _meta: { quota: { token_count: { input_tokens: 12, output_tokens: 3 } } },
    }
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  )
