import { World } from '../world.ts'
import { PLANS } from './plans.ts'
import { RecordingLog } from './recording.ts'
import { contexts } from './tales-contexts.ts'
import { documents } from './tales-documents.ts'
import { ends, outages } from './tales-ends.ts'
import { external } from './tales-external.ts'
import { blobs, coder, files, results, secrets } from './tales-files.ts'
import { erased, forks } from './tales-forks.ts'
import { losses } from './tales-losses.ts'
import { models } from './tales-models.ts'
import { approvals, doubts, late, people, voided } from './tales-people.ts'
import { reuse } from './tales-reuse.ts'

/** Every history that is recorded, by its name; told again it is the same to the byte. */
export const HISTORIES: Readonly<Record<string, () => Promise<RecordingLog>>> = {
  ...Object.fromEntries(Object.entries(PLANS).map(([name, plan]) => [name, () => lived(plan)])),
  ...{
    approvals,
    blobs,
    coder,
    contexts,
    documents,
    doubts,
    ends,
    erased,
    external,
    files,
    forks,
    late,
    losses,
    models,
    outages,
    people,
    results,
    reuse,
    secrets,
    voided,
  },
}

async function lived(plan: (typeof PLANS)[string]): Promise<RecordingLog> {
  const log = new RecordingLog()
  await new World(plan, [], log).live()
  return log
}
