import { appendFileSync } from 'node:fs'
import { generateText, isStepCount, jsonSchema, tool, wrapLanguageModel } from 'ai'
import type { KeepUpForAi } from '../../../api/library/ai-kit.ts'
import { type AiStep, aiModel } from './model.ts'

const TURNS: readonly AiStep[] = [
  { tool: 'look', input: { order: 42 } },
  { tool: 'pay', input: { order: 42, amount: 1 } },
  { tool: 'pay', input: { order: 42, amount: 2 }, id: 'call-1' },
  { tool: 'look', input: { order: 43 } },
  { text: 'Both are paid.' },
]

/** A program of five turns. Each model call and each call of a tool adds a line to the file `effects`. */
export async function program(k: KeepUpForAi, effects: string): Promise<string> {
  const note = (line: string) => appendFileSync(effects, `${line}\n`)
  const input = jsonSchema<{ order: number; amount?: number }>({ type: 'object' })
  const { text } = await generateText({
    model: wrapLanguageModel({ model: aiModel(TURNS, (turn) => note(`model ${turn}`)), middleware: k.middleware }),
    tools: k.tools({
      look: tool({
        inputSchema: input,
        execute: async ({ order }) => {
          note(`look ${order}`)
          return { order, due: 3 }
        },
      }),
      pay: tool({
        inputSchema: input,
        execute: async ({ amount }) => {
          note(`pay ${amount}`)
          return 'paid'
        },
      }),
    }),
    toolApproval: k.approve,
    telemetry: { integrations: [k.telemetry] },
    stopWhen: isStepCount(TURNS.length),
    prompt: 'Pay order 42.',
  })
  await k.finish(text)
  return text
}

export const RULES = { run: 'order-42', effects: { look: 'pure' } } as const
