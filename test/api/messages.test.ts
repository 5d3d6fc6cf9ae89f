import { afterAll, beforeAll, expect, it } from 'vitest'
import type { z } from 'zod'
import type { MessageList } from '../../api/app/schemas/messages.ts'
import { RuntimeMessageBus } from '../../api/index.ts'
import { chatModel, chatSpec, talker } from '../support/tree/chatter.ts'
import { Recorded } from '../support/tree/recorded.ts'
import { playWith, ROOT } from '../support/tree/walk.ts'
import { inProcess } from './cli-support.ts'
import { bodyOf, openWorld } from './http-support.ts'

// Messages of a run, over HTTP, on the command line and in the library.

let world: Awaited<ReturnType<typeof openWorld>>
beforeAll(async () => {
  world = await openWorld()
  const recorded = new Recorded({ startsAt: Date.now() + 1_000 })
  const chat = [[[{ does: 'send', to: 1 }], [{ does: 'send', to: -1 }]], [[{ does: 'publish', topic: 'a' }]]] as const
  playWith(chatModel(ROOT, chat), chatSpec(), [], undefined, {}, recorded)
  await recorded.into(world.services.log)
})
afterAll(() => world.close())

it('are listed with what became of each', async () => {
  const { messages } = await bodyOf<z.infer<typeof MessageList>>(await world.ask('GET', `/v1/runs/${ROOT}/messages`))
  const of = (to: string | null) => messages.find((one) => one.to === to)
  expect(of(talker(ROOT, 1))).toMatchObject({ from: talker(ROOT, 0), type: 'event', received: 1, bounced: null })
  expect(of('no-such-agent')?.bounced).toContain('there is no such agent')
  expect(of(null)).toMatchObject({ topic: 'a', from: talker(ROOT, 1), received: 0 })
  const shown = await inProcess(['--data', world.data, 'messages', ROOT], {}, {})
  expect(JSON.stringify(shown)).toContain('bounced')
})

it('of people to an agent that the run does not have are refused by name', async () => {
  const given = {
    parsed: (schema: z.ZodType, value: unknown) => schema.parse(value) as never,
    ending: new AbortController().signal,
  }
  const bus = new RuntimeMessageBus(world.services, ROOT, 'ops', given)
  await expect(bus.send('no-such-agent', 'hello')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
