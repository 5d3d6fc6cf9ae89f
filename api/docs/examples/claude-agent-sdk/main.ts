import { type Options, query } from '@anthropic-ai/claude-agent-sdk'
import { keepupForClaude } from '@keepup/runtime/claude'

/** Gives a task to Claude. Commands wait for a person: `keepup ask` in another terminal. Returns the result and the session. */
export async function work(
  prompt: string,
  { data = './data', resume, ...options }: Options & { data?: string } = {},
): Promise<{ result: string; sessionId: string }> {
  const k = await keepupForClaude({ data, policy: { requiresApproval: ['Bash'] } })
  try {
    const { sessionStore, hooks } = k
    const asked: Options = { ...options, sessionStore, hooks, ...(resume !== undefined && { resume }) }
    let [result, sessionId] = ['', resume ?? '']
    for await (const message of k.observe(query({ prompt, options: asked }))) {
      if (message.type !== 'result') continue
      sessionId = message.session_id
      result = message.subtype === 'success' ? message.result : message.subtype
    }
    return { result, sessionId }
  } finally {
    await k.close()
  }
}

if (import.meta.main) {
  const [prompt = 'Say what this folder contains.', resume] = process.argv.slice(2)
  const { result, sessionId } = await work(prompt, resume === undefined ? {} : { resume })
  console.log(`${result}\nTo go on: node main.ts "…" ${sessionId}`)
}
