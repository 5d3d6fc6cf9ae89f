import { onTestFinished } from 'vitest'
import { Projections } from '../../../projections/index.ts'
import { tempFolder } from '../folders.ts'
import type { TreeWorld } from './world.ts'

/** The real tables of a world, up to the end of its log; closed when the test has finished. */
export async function tablesOf({ log, blobs }: TreeWorld): Promise<Projections> {
  const projections = await Projections.open({ folder: tempFolder(), log, blobs })
  onTestFinished(() => projections.close())
  await projections.caughtUpTo(await log.headCursor())
  return projections
}
