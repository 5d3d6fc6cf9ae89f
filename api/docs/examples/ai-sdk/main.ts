import { keepupForAi } from '@keepup/runtime/ai'
import { gateway, generateText, isStepCount, jsonSchema, type LanguageModel, tool, wrapLanguageModel } from 'ai'

type Model = Exclude<LanguageModel, string> & { specificationVersion: 'v4' }

const lookUp = tool({
  description: 'The state of an order',
  inputSchema: jsonSchema<{ order: string }>({ type: 'object', properties: { order: { type: 'string' } } }),
  execute: async ({ order }) => ({ order, state: 'lost in the mail', paid: 30 }),
})

const refund = tool({
  description: 'Pays the price of an order back',
  inputSchema: jsonSchema<{ order: string; amount: number }>({
    type: 'object',
    properties: { order: { type: 'string' }, amount: { type: 'number' } },
  }),
  execute: async ({ order, amount }) => `refunded ${amount} for ${order}`,
})

/** Answers a customer. A refund waits for a person: `keepup ask` in another terminal. */
export async function answer(
  { order, question }: { order: string; question: string },
  { data = './data', model = gateway('anthropic/claude-sonnet-4.5') as Model } = {},
): Promise<string> {
  const k = await keepupForAi({
    data,
    run: `order-${order}`,
    task: question,
    policy: { requiresApproval: ['refund'] },
    effects: { lookUp: 'pure' },
  })
  try {
    const { text } = await generateText({
      model: wrapLanguageModel({ model, middleware: k.middleware }),
      tools: k.tools({ lookUp, refund }),
      toolApproval: k.approve,
      telemetry: { integrations: [k.telemetry] },
      stopWhen: isStepCount(10),
      abortSignal: k.signal,
      prompt: `Order ${order}: ${question}`,
    })
    await k.finish(text)
    return text
  } finally {
    await k.close()
  }
}

if (import.meta.main) {
  const [order = '42', question = 'Where is my order? I want my money back.'] = process.argv.slice(2)
  console.log(await answer({ order, question }))
}
