import { external } from '../../domain/external/aggregate.ts'
import { Residues } from '../../domain/stream/runtime/residues.ts'
import { minReaderIn } from '../engine/changes/body.ts'
import { set } from '../engine/changes/change.ts'
import type { StreamKind } from '../engine/changes/stream-kind.ts'
import { decode } from './decode.ts'
import type { ProjectedExternal } from './event.ts'
import { changesOf } from './rows.ts'

/** Converts the stream of an external run to rows. All event types are at version 1, so no body needs an upcast. */
export const externalRows: StreamKind<ProjectedExternal> = {
  minReader: minReaderIn,
  decode,
  changes: changesOf,
  referenceOf: () => null,
  withReferred: (event) => event,
  parked: (id, revision) => [set('agents', { id }, { incomplete_from: revision })],
  upcast: () => null,
  residues: (stores, stream) => new Residues(stores, external, stream),
}
