import { expect } from 'vitest'
import { attachmentOf } from '../../domain/agent/events/attachment.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { call, calls, completes, MemoryBlobs, MemoryIntents } from './harness.ts'
import { given, type Said, tool } from './story.ts'

export const long = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join('')

/** A run whose first call has a long result. `ports` are added to the stores. */
export function looking(says: readonly Said[] = [], does: () => unknown = () => long, ports: object = {}) {
  const stores = { blobs: new MemoryBlobs(), intents: new MemoryIntents() }
  const story = given({
    says: [calls(call('look')), ...says, completes()],
    tools: [{ ...tool('look'), run: async () => wholeOr(does()) }],
    spec: { readsOn: true },
    ports: { ...stores, ...ports },
  })
  return story.then((run) => ({ ...run, ...stores }))
}
const wholeOr = (made: unknown): never =>
  (made !== null && typeof made === 'object' && 'content' in made ? made : { content: made }) as never

export async function looked(...asked: Parameters<typeof looking>) {
  const run = await looking(...asked)
  expect(await run.drive()).toEqual({ end: 'done' })
  const [end] = await run.of('tool_call_end')
  const attachment = attachmentOf(end!)!
  return { ...run, end: end!, attachment, address: `${run.runId}/${attachment?.hash}` }
}

export const heldText = (blobs: MemoryBlobs) =>
  [...blobs.held.values()].map((bytes) => Buffer.from(unsalted(bytes)).toString())
