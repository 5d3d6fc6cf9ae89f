import { Mailbox } from '../../../domain/stream/runtime/mailbox.ts'
import type { StreamPorts } from '../../../domain/stream/runtime/ports.ts'
import { Snapshots } from '../../../domain/stream/runtime/snapshots.ts'
import { type CounterCommand, type CounterState, counter, owedBells } from './counter.ts'
import type { CounterEvent } from './events.ts'

const snapshots = new Snapshots<CounterState, CounterEvent>(counter, {
  members: ['total', 'bellAt', 'owed', 'rings', 'closed', 'at', 'said', 'commands'],
  keep: (state) => state,
  step: () => 0,
  whole: async (_, __, kept) => kept as CounterState,
})

export type CounterMailbox = Mailbox<CounterState, CounterEvent, CounterCommand>

/** `kind`: replaces `counter` for a log that accepts only the product's kinds. */
export const counterStream = (id: string, kind = 'counter'): string => `${kind}-${id}`

export const mailboxOf = (ports: StreamPorts, stream: string): CounterMailbox =>
  new Mailbox(counter, snapshots, stream, ports)

/** Performs the owed effects: rings the bell, then records it. */
export async function ringBells(mailbox: CounterMailbox, ring: (times: number) => void): Promise<void> {
  await mailbox.refresh()
  const times = mailbox.state === null ? 0 : owedBells(mailbox.state)
  if (times === 0) return
  ring(times)
  const asking = { by: { kind: 'driver', id: 'bell' }, commandId: `ring:${mailbox.head!.revision}` } as const
  await mailbox.submit({ kind: 'rung', times }, asking, { fact: true })
}
