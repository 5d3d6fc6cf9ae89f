import { expect, onTestFinished, test } from 'vitest'
import {
  type AgentNotification,
  EventStoreWorkSubscription,
} from '../../../../adapters/eventstore/work-subscription.ts'
import { openLog, standIn } from '../../../support/eventstore/logs.ts'
import type { StandIn } from '../../../support/eventstore/stand-in.ts'
import { NEW, Sealer } from '../../../support/log/sealing.ts'

/** Those who listen at a namespace of a server, and a writer. */
async function house(server: StandIn, namespace = 'ns') {
  const log = await openLog(server.url, { namespace })
  const sealer = new Sealer(namespace)
  const workSubscription = await EventStoreWorkSubscription.open({ connectionString: server.url, namespace })
  onTestFinished(() => workSubscription.close())
  // The group is there before the first event, as where workers run.
  expect(await workSubscription.look()).toEqual({ version: '23.10.6', made: false, refused: null })
  const first = new AbortController()
  const notification = workSubscription.notifications(first.signal, () => undefined).next()
  await expect.poll(() => workSubscription.look()).toMatchObject({ made: true })
  first.abort(new Error('over'))
  await notification
  const listen = (answer: (notification: AgentNotification) => void = ({ done }) => done()) => {
    const leave = new AbortController()
    const heard: string[] = []
    const troubles: unknown[] = []
    const over = (async () => {
      for await (const notification of workSubscription.notifications(leave.signal, (error) => troubles.push(error))) {
        heard.push(notification.agentId)
        answer(notification)
      }
    })()
    const end = () => {
      leave.abort(new Error('over'))
      return over
    }
    onTestFinished(end)
    return { heard, troubles, end }
  }
  const record = (agent: string, driver = false) => {
    const header = { agentId: agent, ...(driver ? { driver: { id: 'd', epoch: 1 } } : {}) }
    return log.append(`agent-${agent}`, -1, sealer.batch(`agent-${agent}`, NEW, [{ header }]))
  }
  return { workSubscription, listen, record }
}

const all = (...listeners: { heard: string[] }[]) => listeners.flatMap(({ heard }) => heard).sort()

test('each event of an agent notifies one listener, and says whether a driver wrote it', async () => {
  const server = await standIn()
  const { listen, record } = await house(server)
  const other = await house(server, 'other')
  const byDriver: string[] = []
  const note = (notification: AgentNotification) => {
    if (notification.byDriver) byDriver.push(notification.agentId)
    notification.done()
  }
  const [a, b] = [listen(note), listen(note)]
  for (const agent of ['a1', 'a2', 'a3', 'a4']) await record(agent, agent === 'a3')
  await other.record('x')
  await expect.poll(() => all(a, b)).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect(byDriver).toEqual(['a3'])
})

test('a notification without acknowledgement goes to another listener', async () => {
  const { listen, record } = await house(await standIn())
  const silent = listen(() => undefined)
  await record('a1')
  await expect.poll(() => silent.heard).toEqual(['a1'])
  await silent.end()
  const next = listen()
  await expect.poll(() => next.heard).toEqual(['a1'])
})

test('after cut connections and a restart of the server the listener listens again, and reports each fault once', async () => {
  const server = await standIn()
  const { listen, record } = await house(server)
  const one = listen()
  await record('a1')
  await expect.poll(() => one.heard).toContain('a1')
  expect(one.troubles).toEqual([null])
  server.drop()
  await record('a2')
  await expect.poll(() => one.heard).toContain('a2')
  await server.kill()
  await expect.poll(() => one.troubles.at(-1)).not.toBe(null)
  await server.start()
  // Before anything rings.
  await expect.poll(() => one.troubles.at(-1)).toBe(null)
  await record('a3')
  await expect.poll(() => one.heard).toContain('a3')
})

test('a look reports a missing right of the user', async () => {
  const server = await standIn()
  const { workSubscription } = await house(server)
  expect(await workSubscription.look()).toEqual({ version: '23.10.6', made: true, refused: null })
  server.switches.denied = true
  expect(await workSubscription.look()).toMatchObject({ version: '23.10.6', refused: expect.stringMatching(/denied/i) })
  server.switches.denied = false
})
