import { expect, it } from 'vitest'
import { alteredRowsContract } from '../../contracts/projections/altered-rows.ts'
import { anyKindContract } from '../../contracts/projections/any-kind.ts'
import { checkpointsContract } from '../../contracts/projections/checkpoints.ts'
import { contextStoresContract } from '../../contracts/projections/context-stores.ts'
import { costContract } from '../../contracts/projections/cost.ts'
import { damageContract } from '../../contracts/projections/damage.ts'
import { dueContract } from '../../contracts/projections/due.ts'
import { externalContract } from '../../contracts/projections/external.ts'
import { lawsContract } from '../../contracts/projections/laws.ts'
import { memoriesContract } from '../../contracts/projections/memories.ts'
import { numbersContract } from '../../contracts/projections/numbers.ts'
import { projectorContract } from '../../contracts/projections/projector.ts'
import { queriesContract } from '../../contracts/projections/queries.ts'
import { refusedContract } from '../../contracts/projections/refused.ts'
import { runFilterContract } from '../../contracts/projections/run-filter.ts'
import { stateContract } from '../../contracts/projections/state.ts'
import { storeContract } from '../../contracts/projections/store.ts'
import { textsContract } from '../../contracts/projections/texts.ts'
import { treeContract } from '../../contracts/projections/tree.ts'
import { waitingContract } from '../../contracts/projections/waiting.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { folded, sqliteKit } from '../../support/projections/kit.ts'
import { postgresKit } from '../../support/projections/postgres-kit.ts'
import { tell } from '../../support/projections/tell.ts'

const numbers = Array.from({ length: 900 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)

describeWithSharedPostgres('tables in PostgreSQL', (server) => {
  const kit = postgresKit(server)
  storeContract(kit)
  anyKindContract(kit)
  alteredRowsContract(kit)
  projectorContract(kit)
  damageContract(kit)
  refusedContract(kit, (store) => store)
  lawsContract(kit)
  queriesContract(kit)
  runFilterContract(kit)
  textsContract(kit)
  costContract(kit)
  numbersContract(kit)
  checkpointsContract(kit)
  dueContract(kit)
  waitingContract(kit)
  stateContract(kit)
  externalContract(kit)
  treeContract(kit)
  memoriesContract(kit)
  contextStoresContract(kit)

  it('hold the same rows as in SQLite, and beside them what the log says', async () => {
    const { log } = tell(numbers)
    const { event_rows: events, ...rows } = await folded(log, kit)
    expect(rows).toEqual(await folded(log, sqliteKit))
    expect(events).toHaveLength(log.events.length)
    expect(events!.filter((row) => row.payload === null)).toHaveLength(log.events.filter((e) => e.erased).length)
  })
})
