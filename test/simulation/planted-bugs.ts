/** A bug, as edits of the sources. `from` occurs once in the file. */
export interface Planted {
  readonly bug: string
  readonly breaks: Broken
  /** The first seed, for a bug that few histories show; absent: 1. */
  readonly seed?: number
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[]
}

/** The rule that a bug breaks. An error of the program must have this text too. */
export type Broken = string | { readonly error: string }

const edit = (file: string, from: string, to: string) => ({ file, from, to })
const one = (bug: string, breaks: Broken, file: string, from: string, to: string): Planted => ({
  bug,
  breaks,
  edits: [edit(file, from, to)],
})

export const PLANTED: readonly Planted[] = [
  one(
    'an append is acknowledged before it is durable',
    'an acknowledged event is in the log',
    'domain/stream/runtime/append.ts',
    'await retry.attempt((limitMs) => log.append(stream, expected, sealed, limitMs))',
    'void retry.attempt((limitMs) => log.append(stream, expected, sealed, limitMs)).catch(() => undefined)',
  ),
  {
    bug: 'an effect begins before its intent is durable',
    breaks: 'the state in memory equals the fold of the log',
    edits: [
      edit(
        'domain/stream/runtime/mailbox.ts',
        'decision = aggregate.decide(folded, place, command, context)',
        'decision = aggregate.decide(folded, place, command, context)\n      this.folded = decision.state\n      this.announce([])',
      ),
      edit('domain/agent/runtime/driver.ts', '    await this.mailbox.refresh()\n    return (', '    return ('),
    ],
  },
  one(
    'a driver takes its lease for ownership and does not look at the log',
    'a driver looks at the log before each effect, and owns the agent there',
    'domain/agent/runtime/driver.ts',
    '    await this.mailbox.refresh()\n    return (\n      this.state.driver?.epoch === this.epoch &&\n      ',
    '    return (\n      ',
  ),
  one(
    'a claim does not raise the epoch of a lost driver',
    'nothing that is owed is forgotten',
    'domain/agent/decide/decide-outcomes.ts',
    'if (d.state.driver?.id === fact.driverId) return',
    'if (d.state.driver !== null) return',
  ),
  one(
    'the position of the tables moves before their rows',
    'the tables show what their position says',
    'projections/engine/store/sqlite.ts',
    '      this.#move(from, to)\n',
    "      this.#move(from, to)\n      raw.exec('commit')\n      raw.exec('begin immediate')\n",
  ),
  one(
    'an outcome is dropped on a conflict',
    'the intent of a model call is durable before it begins',
    'domain/stream/runtime/mailbox.ts',
    'still = (await this.caughtUp()) ? 1 : still + 1\n',
    'still = (await this.caughtUp()) ? 1 : still + 1\n        if (fact) return { revision: this.tip?.revision ?? -1, recorded: false }\n',
  ),
  one(
    'a cancel does not wake an agent that sleeps',
    'nothing that is owed is forgotten',
    'domain/agent/decide/wake-at.ts',
    'return waitsForChildren(state) ? Math.max(state.at, state.cancel.deadlineAt) : state.at',
    'return null',
  ),
  one(
    'the courier delivers twice',
    'nothing that is owed is forgotten',
    'domain/courier/delivery-commands.ts',
    'if (rank <= accepted) return false',
    'if (rank <= accepted) return true',
  ),
  one(
    'the courier marks a delivery as done before it delivers',
    'the bill of an agent contains its whole tree',
    'domain/courier/runtime/deliver.ts',
    'const refused = broken ?? (await refusal(ports, target, command, recorded.header, retry))',
    'await settle(source, target, { upTo: event.revision, accepted: rankOf(command.origin), bounced: [], again: false }, retry)\n      const refused = broken ?? (await refusal(ports, target, command, recorded.header, retry))',
  ),
  one(
    'the usage of a child is missing on the bill of its parent',
    'the bill of an agent contains its whole tree',
    'domain/agent/state/evolve-tree.ts',
    'asks, settled: addReport(family.settled, report) })',
    'asks })',
  ),
  one(
    'the grants of open children count as free',
    'a tree has at most the agents of its budget',
    'domain/agent/state/budget-account.ts',
    'return eachKind((kind) => open[kind] + late[kind] + ended[kind])',
    'return eachKind((kind) => open[kind] * 0 + late[kind] + ended[kind])',
  ),
  one(
    'an approval lets another call of the turn run',
    'a tool gets the recorded arguments',
    'domain/agent/runtime/driver.ts',
    'answer.body.content[answer.body.calls[call.index]?.block ?? -1]',
    'answer.body.content[answer.body.calls[0]?.block ?? -1]',
  ),
  one(
    'an unknown outcome is sent again as a new batch behind the head',
    'the fold of the log equals the state that was decided',
    'domain/stream/runtime/journal.ts',
    '    await append(ports, stream, head?.revision ?? -1, sealed, retry).catch(async (error: unknown) => {\n',
    `    await append(ports, stream, head?.revision ?? -1, sealed, retry).catch(async (error: unknown) => {
      if ((error as { code?: string }).code === 'CONFLICT') {
        const now = await ports.log.head(stream)
        const again = make({ now: now!.timestamp, salt: () => tape.salt(), jitter: () => tape.jitter() }).events
        const anew = chained(stream, now, again, new Set())
        await append(ports, stream, now!.revision, anew, retry)
        throw error
      }
`,
  ),
  one(
    'the row of an agent that waits for its model is missing in the due table',
    'nothing that is owed is forgotten',
    'domain/agent/decide/wake-at.ts',
    "return model.at === 'backoff' ? model.until : at",
    "return model.at === 'backoff' ? NEVER : at",
  ),
  one(
    'a fork goes on with the calls of its source',
    'a tool gets the recorded arguments',
    'domain/agent/state/evolve-fork.ts',
    "? { status: 'OBSERVATION', outcome: 'cancelled', calls: [], ended: true }",
    '? state.machine',
  ),
  one(
    'an irreversible call of a lost driver runs again',
    'an irreversible effect begins once',
    'domain/calls/decide/proceed.ts',
    "(call.effect === 'irreversible' || call.lost >= MAX_LOST)",
    'call.lost >= MAX_LOST',
  ),
  {
    bug: 'a call runs before its approval',
    breaks: 'a call that needs an approval begins after it',
    edits: [
      edit('domain/calls/decide/proceed.ts', 'intent: asks === null }', 'intent: true }'),
      edit('domain/calls/decide/proceed.ts', '  if (asks !== null) askApproval(d, call, asks)\n', ''),
    ],
  },
  one(
    'a repeated request is recorded again',
    'a request is recorded once',
    'domain/stream/runtime/mailbox.ts',
    'if (await this.hasRecorded(asking)) return',
    'if (asking === null) return',
  ),
  {
    bug: 'the answer to a lost attempt counts for the next one',
    breaks: { error: 'is not open' },
    seed: 100_165,
    edits: [
      edit(
        'domain/agent/decide/decide-outcomes.ts',
        'd.state.turn === turn && model.attempt === attempt ? model : null',
        'd.state.turn === turn ? model : null',
      ),
    ],
  },
  one(
    'the time of an event goes back with the clock of its process',
    { error: 'is older than the event before it' },
    'domain/stream/runtime/journal.ts',
    'Math.max(ports.clock.now(), head?.timestamp ?? 0, ports.log.floor())',
    'Math.max(ports.clock.now(), ports.log.floor())',
  ),
  one(
    'a child that ends does not report its end',
    { error: 'wait for each other' },
    'domain/agent/state/courier.ts',
    "    case 'end_reported':\n",
    '',
  ),
  one(
    'the import of an edit is acknowledged before it is recorded',
    'an acknowledged edit is in the document once',
    'domain/document/runtime/document-desk.ts',
    "const recorded = await this.#record({ kind: 'import', change }, asking, revision, change)\n",
    "void this.#record({ kind: 'import', change }, asking, revision, change).catch(() => null)\n        const recorded = revision + 1\n",
  ),
  one(
    'an erasure of a variable spares all but its last value',
    'no byte of an erased text is left',
    'domain/store/runtime/context-stores.ts',
    'if (only.size === 0) throw variableNotFound(key)',
    'for (const one of [...only].slice(0, -1)) only.delete(one)\n    if (only.size === 0) throw variableNotFound(key)',
  ),
]
