import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { type KeepUpForAi, type KeepUpForAiOptions, keepupForAi } from '../../../api/library/ai-kit.ts'
import { type AiStep, aiModel } from '../../support/ai/model.ts'
import { freshFolders } from '../../support/folders.ts'

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
let models: number[]
let done: string[]
beforeEach(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, by: 'ada', models: [PRICED] })
  models = []
  done = []
})
afterEach(async () => {
  await keepup.close()
  folders.remove()
})

const PRICED = {
  ...{ id: 'openai:scripted-1', contextTokens: 1000, maxOutputTokens: 100 },
  price: { asOf: '2026-01-01', input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
} as never

type Rules = Partial<Omit<Extract<KeepUpForAiOptions, { readonly keepup: KeepUp }>, 'keepup'>>
const open = (more: Rules = {}) => keepupForAi({ run: 'order-42', by: 'ada', ...more, keepup })

const input = jsonSchema<Record<string, unknown>>({ type: 'object' })
const tools = () => ({
  add: tool({
    inputSchema: input,
    execute: async ({ a }) => {
      done.push(`add ${a}`)
      return { sum: Number(a) + 1 }
    },
  }),
  refund: tool({
    inputSchema: input,
    execute: async ({ order }) => {
      done.push(`refund ${order}`)
      if (order === 13) throw new Error('no such order')
      return 'refunded'
    },
  }),
})

const asked = (k: KeepUpForAi, script: readonly AiStep[]) => ({
  model: wrapLanguageModel({ model: aiModel(script, (turn) => models.push(turn)), middleware: k.middleware }),
  tools: k.tools(tools()),
  toolApproval: k.approve,
  telemetry: { integrations: [k.telemetry] },
  stopWhen: isStepCount(8),
  maxRetries: 0,
  prompt: 'go',
})

async function recordOf({ runId }: KeepUpForAi) {
  const { events } = await keepup.listRunEvents({ id: runId, limit: 500 })
  return events.map(({ type, payload, actor }) => ({
    type,
    actor,
    payload: payload as unknown as Record<string, unknown>,
  }))
}

async function decide(runId: string, decision: 'approved' | 'rejected') {
  const asked = async () => (await Array.fromAsync(keepup.approvals())).find((one) => one.runId === runId) ?? null
  await expect.poll(asked, { timeout: 10_000 }).not.toBeNull()
  const { toolCallId } = (await asked())!
  const { questionHash } = await keepup.getApproval({ toolCallId })
  await keepup.decideApproval({ toolCallId, decision, questionHash, by: 'bo' })
}

describe('a program of the AI SDK', () => {
  it('has its calls in the log with their cost, and a proof', async () => {
    const k = await open()
    const { text } = await generateText(asked(k, [{ tool: 'add', input: { a: 1 } }, { text: 'two' }]))
    await k.finish(text)
    expect(await keepup.run(k.runId)).toMatchObject({
      ...{ status: 'completed', summary: 'two', backend: 'ai_sdk', model: 'scripted-1' },
      own: { modelCalls: 2, toolCalls: 1, inputTokens: 20, outputTokens: 10, nanoDollars: 40_000 },
    })
    expect(await keepup.verifyRun({ id: k.runId })).toMatchObject({ ok: true })
  })

  it('continues with recorded outcomes when it starts again', async () => {
    const script: AiStep[] = [
      { tool: 'add', input: { a: 1 } },
      { tool: 'refund', input: { order: 13 } },
      { text: 'done' },
    ]
    const first = await open()
    await generateText(asked(first, script))
    await first.close()
    const second = await open()
    const { steps, text } = await generateText(asked(second, script))
    await second.close()
    expect([text, models, done]).toEqual(['done', [0, 1, 2], ['add 1', 'refund 13']])
    expect(steps[0]!.toolResults[0]!.output).toEqual({ sum: 2 })
    // A failure is an outcome too.
    expect(steps[1]!.content).toContainEqual(
      expect.objectContaining({ type: 'tool-error', error: expect.objectContaining({ message: 'no such order' }) }),
    )
  })

  it('streams as it comes, and from the record when it starts again', async () => {
    const script: AiStep[] = [{ tool: 'add', input: { a: 1 } }, { text: 'one two three' }]
    for (const _ of [1, 2]) {
      const k = await open()
      const { textStream } = streamText(asked(k, script))
      expect((await Array.fromAsync(textStream)).join('')).toBe('one two three')
      await k.close()
    }
    expect([models, done]).toEqual([[0, 1], ['add 1']])
    const k = await open()
    const answers = (await recordOf(k)).filter(({ type }) => type === 'model_outcome')
    expect(answers.map(({ payload }) => payload.text)).toEqual([undefined, 'one two three'])
    // The pieces of a text are one part of the record.
    const parts = answers[1]!.payload.answer as { type: string; delta?: string }[]
    expect(parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta)).toEqual(['one two three'])
  })

  it('waits for a person, whose decision is bound to the arguments and outlives the program', async () => {
    const policy = { requiresApproval: ['refund'] }
    const script: AiStep[] = [{ tool: 'refund', input: { order: 42 } }, { text: 'done' }]
    const left = await open({ policy, wait: false })
    const { steps } = await generateText(asked(left, script))
    expect(steps.at(-1)!.content).toContainEqual(expect.objectContaining({ type: 'tool-approval-request' }))
    expect(done).toEqual([])
    await left.close()
    const k = await open({ policy })
    const ran = generateText(asked(k, script))
    await decide(k.runId, 'approved')
    expect((await ran).text).toBe('done')
    expect([models, done]).toEqual([[0, 1], ['refund 42']])
    const events = await recordOf(k)
    const [question, decision] = ['approval_requested', 'approval_decided'].map(
      (type) => events.find((e) => e.type === type)!,
    )
    expect(decision!.payload.argumentsHash).toBe(question!.payload.argumentsHash)
    expect(decision!.actor).toMatchObject({ id: 'bo' })
    // Other arguments need another approval.
    const other = generateText(asked(k, [{ tool: 'refund', input: { order: 43 } }, { text: 'no' }]))
    await decide(k.runId, 'rejected')
    const { steps: refused } = await other
    expect(refused[0]!.content).toContainEqual(
      expect.objectContaining({ type: 'tool-approval-response', approved: false }),
    )
    expect(done).toEqual(['refund 42'])
    await k.close()
  })

  it('does not run what the policy denies, also without toolApproval', async () => {
    const k = await open({ policy: { deniedTools: ['refund'] } })
    const script: AiStep[] = [{ tool: 'refund', input: { order: 42 } }, { text: 'done' }]
    const { toolApproval: _, ...rest } = asked(k, script)
    const { steps } = await generateText(rest)
    expect(steps[0]!.content).toContainEqual(expect.objectContaining({ type: 'tool-error' }))
    expect(done).toEqual([])
    expect((await recordOf(k)).find(({ type }) => type === 'tool_call_end')!.payload.error).toMatchObject({
      ...{ code: 'PERMISSION_DENIED', rule: 'denied' },
    })
    await k.close()
  })

  it('asks about parallel calls one by one and runs none before its own approval', async () => {
    const k = await open({ policy: { requiresApproval: ['refund'] } })
    const calls = [
      { tool: 'refund', input: { order: 1 }, id: 'a' },
      { tool: 'refund', input: { order: 2 }, id: 'b' },
    ]
    const ran = generateText(asked(k, [{ calls }, { text: 'done' }]))
    await decide(k.runId, 'approved')
    await decide(k.runId, 'approved')
    await ran
    expect(done.toSorted()).toEqual(['refund 1', 'refund 2'])
    await k.close()
  })

  it('lets no secret into the log, and continues with the reference in its place', async () => {
    const secret = `ghp_${'aB3d'.repeat(9)}`
    const script: AiStep[] = [{ tool: 'show', input: {} }, { text: 'done' }]
    const show = tool({ inputSchema: input, execute: async () => ({ text: `the key is ${secret}` }) })
    const outputs: unknown[] = []
    for (const _ of [1, 2]) {
      const k = await open()
      const { steps } = await generateText({ ...asked(k, script), tools: k.tools({ show }) })
      outputs.push(steps[0]!.toolResults[0]!.output)
      await k.close()
    }
    expect(outputs).toEqual([
      { text: `the key is ${secret}` },
      { text: expect.stringMatching(/^the key is secret:ku_[0-9a-z]{26}$/) },
    ])
    expect(models).toEqual([0, 1])
    const k = await open()
    expect(JSON.stringify(await recordOf(k))).not.toContain(secret)
    await k.close()
  })

  it('hides what the secret patterns of the run find, also when it continues without them', async () => {
    const script: AiStep[] = [{ tool: 'show', input: { code: 'AB-1234' } }, { text: 'AB-5678' }]
    const show = tool({ inputSchema: input, execute: async () => 'AB-9012' })
    for (const rules of [{ policy: { secretPatterns: ['AB-[0-9]{4}'] } }, {}]) {
      const k = await open(rules)
      await generateText({ ...asked(k, script), prompt: `go ${rules.policy === undefined}`, tools: k.tools({ show }) })
      await k.close()
    }
    const k = await open()
    expect(JSON.stringify(await recordOf(k))).not.toMatch(/AB-[0-9]{4}/)
    await k.close()
    await expect(open({ run: 'other', policy: { secretPatterns: ['('] } })).rejects.toThrow('secretPatterns')
  })

  it('hides secrets in texts that are JSON, as in the input of a tool call', async () => {
    const k = await open()
    const show = tool({ inputSchema: input, execute: async () => JSON.stringify({ token: 'hunter3' }) })
    const script: AiStep[] = [{ tool: 'show', input: { password: 'hunter2' } }, { text: 'done' }]
    await generateText({ ...asked(k, script), tools: k.tools({ show }) })
    expect(JSON.stringify(await recordOf(k))).not.toMatch(/hunter[23]/)
    await k.close()
  })

  it('gives a result that JSON cannot store to the model once, and does not repeat its effect', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    let deep: unknown = 'end'
    for (let level = 0; level < 1_100; level++) deep = [deep]
    let made = 0
    const results = [circle, deep]
    const call = (of: KeepUpForAi, n: number) => {
      const show = tool({ inputSchema: input, execute: async () => results[made++] })
      const options = { toolCallId: `call-${n}`, messages: [], context: undefined } as never
      return of.tools({ show }).show.execute!({ n }, options)
    }
    const first = await open()
    for (const [n, result] of results.entries()) expect(await call(first, n)).toBe(result)
    await first.close()
    const second = await open()
    for (const n of results.keys()) expect(await call(second, n)).toMatch('The call has happened')
    expect(made).toBe(2)
    await second.close()
  })

  it('takes the run from an earlier opening in the same process', async () => {
    const [first, second] = [await open(), await open()]
    await expect(first.finish('late')).rejects.toThrow()
    await first.close()
    // Its cancel still arrives at the program.
    await keepup.cancelRun({ id: second.runId, reason: 'wrong order' })
    await expect.poll(() => second.signal.aborted).toBe(true)
    await second.close()
  })

  it('stays open when the process ends while the run begins', async () => {
    const { log, agents } = keepup.services
    const append = log.append.bind(log)
    log.append = (...batch) => {
      void agents!.close()
      return append(...batch)
    }
    const k = await open()
    await k.fail('the program ended').catch(() => undefined)
    expect((await recordOf(k)).map(({ type }) => type)).not.toContain('cancel_requested')
    log.append = append
  })

  it('joins the pieces of each text before it hides secrets, also when texts alternate', async () => {
    const secret = `ghp_${'aB3d'.repeat(9)}`
    const k = await open()
    const pieces = (id: string, delta: string) => ({ type: 'text-delta', id, delta }) as const
    const parts = [
      ...['a', 'b'].map((id) => ({ type: 'text-start', id }) as const),
      ...[...secret].flatMap((letter) => [pieces('a', letter), pieces('b', letter)]),
      ...['a', 'b'].map((id) => ({ type: 'text-end', id }) as const),
    ]
    const base = aiModel([{ text: 'x' }])
    const doStream: typeof base.doStream = async (options) => {
      const { stream } = await base.doStream(options)
      const all = await Array.fromAsync(stream)
      return { stream: ReadableStream.from([...parts, all.at(-1)!]) as typeof stream }
    }
    const model = wrapLanguageModel({ model: { ...base, doStream }, middleware: k.middleware })
    const result = streamText({ model, prompt: 'go', providerOptions: { bedrock: { secretAccessKey: 'hunter22' } } })
    await result.consumeStream()
    const record = await recordOf(k)
    const answer = record.find(({ type }) => type === 'model_outcome')!.payload.answer as { delta?: string }[]
    const told = answer.flatMap(({ delta }) => delta ?? [])
    expect(told).toEqual([expect.stringMatching(/^secret:ku_/), expect.stringMatching(/^secret:ku_/)])
    expect(JSON.stringify(record)).not.toContain('hunter22')
    await k.close()
  })

  it('records a failed model call and an aborted one, and calls again when it starts again', async () => {
    const k = await open()
    await expect(generateText(asked(k, [{ fails: 'overloaded' }]))).rejects.toThrow('overloaded')
    const abort = new AbortController()
    const { fullStream } = streamText({ ...asked(k, [{ text: 'one two' }]), abortSignal: abort.signal })
    for await (const part of fullStream) if (part.type === 'text-delta') abort.abort()
    await expect.poll(async () => (await outcomes(k)).length).toBe(2)
    expect(await outcomes(k)).toEqual(['failed', 'aborted'])
    await k.close()
    const again = await open()
    await generateText(asked(again, [{ text: 'now' }]))
    expect(await outcomes(again)).toEqual(['failed', 'aborted', 'answered'])
    await again.close()
  })

  it('refuses a tool that would not be recorded', async () => {
    const k = await open()
    const { steps } = await generateText({
      ...asked(k, [{ tool: 'other', input: {} }, { text: 'done' }]),
      tools: { other: tools().add },
    })
    expect(JSON.stringify(steps[0]!.content)).toContain('tool-error')
    expect(done).toEqual([])
    await k.close()
  })

  it('ends when a person cancels the run', async () => {
    const k = await open({ policy: { requiresApproval: ['refund'] } })
    const ran = generateText({ ...asked(k, [{ tool: 'refund', input: { order: 1 } }]), abortSignal: k.signal })
    const end = expect(ran).rejects.toThrow()
    await expect.poll(async () => (await Array.fromAsync(keepup.approvals())).length).toBe(1)
    await keepup.cancelRun({ id: k.runId, reason: 'wrong order' })
    await end
    expect([k.signal.aborted, done]).toEqual([true, []])
    expect(await keepup.run(k.runId)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
    await k.close()
  })

  it('keeps a conversation once: each request names the messages that came before', async () => {
    const k = await open()
    await generateText(asked(k, [{ tool: 'add', input: { a: 1 } }, { tool: 'add', input: { a: 2 } }, { text: 'done' }]))
    const requests = (await recordOf(k)).filter(({ type }) => type === 'model_requested')
    const told = requests.map(
      ({ payload }) => payload.request as { after?: object; messages: unknown[]; tools?: unknown },
    )
    expect(told.map(({ after, messages }) => [after, messages.length])).toEqual([
      [undefined, 1],
      [{ call: 0, messages: 1 }, 2],
      [{ call: 1, messages: 3 }, 2],
    ])
    expect(told.map(({ tools }) => tools !== undefined)).toEqual([true, false, false])
    await k.close()
  })

  it('takes the place of no other run, and names what is missing', async () => {
    await expect(keepupForAi({ keepup, run: ' ' })).rejects.toThrow('name the run')
    await expect(open({ policy: { requiresApproval: 'refund' as never } })).rejects.toThrow('requiresApproval')
  })
})

const outcomes = async (k: KeepUpForAi) =>
  (await recordOf(k)).filter(({ type }) => type === 'model_outcome').map(({ payload }) => payload.outcome)
