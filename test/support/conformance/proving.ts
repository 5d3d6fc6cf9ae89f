import { drop, replace } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const VERIFY = 'domain/proof/runtime/verify-heads.ts'
const SIGNER = 'domain/proof/runtime/log-signer.ts'
const ATTACKS = 'test/proof/attacks.test.ts'
const LAW = 'test/proof/consistent-heads.test.ts'
const COVERAGE = 'domain/proof/runtime/coverage.ts'
const COVERED = 'test/proof/coverage.test.ts'
const TILES = 'domain/proof/runtime/stored-tiles.ts'
const OLDER = 'test/proof/anchors-ahead.test.ts'

/** Signed heads, and what verification names. */
export const PROVING: readonly Rule[] = [
  {
    rule: 'proofs',
    says: 'a head that the log does not continue is named',
    test: ATTACKS,
    fault: fault(VERIFY, 'compare', drop('operand', 'equalBytes')),
  },
  {
    rule: 'proofs',
    says: 'a head of another size than its note is named',
    test: 'test/proof/evidence.test.ts',
    fault: fault(VERIFY, 'claim', replace('condition', 'size opened', 'false')),
  },
  {
    rule: 'proofs',
    says: 'heads of origins that a loss has cut raise no alarm',
    test: 'test/proof/honest.test.ts',
    fault: fault(VERIFY, 'isCut', replace('value', 'isCut', '() => false')),
  },
  {
    rule: 'proofs',
    says: 'a log that does not continue its last head is not signed',
    test: LAW,
    fault: fault(SIGNER, '#rebuild', replace('value', '#broken', 'null')),
  },
  {
    rule: 'proofs',
    says: 'a changed edge of the tree is made again before it is signed',
    test: LAW,
    fault: fault(SIGNER, '#catchUp', replace('call', '#isSound', 'true')),
  },
  {
    rule: 'proofs',
    says: 'events that are only signed are not called anchored',
    ...{ test: COVERED, name: 'each stream says' },
    fault: fault(COVERAGE, 'streamCoverage', replace('entry', 'found events', 'signed.events')),
  },
  {
    rule: 'proofs',
    says: 'an anchored head that the log does not contain covers nothing',
    ...{ test: COVERED, name: 'another root' },
    fault: fault(COVERAGE, 'streamCoverage', replace('condition', 'found proved', 'true')),
  },
  {
    rule: 'proofs',
    says: 'only a head that proves all events of a stream clears it of the fault of another',
    ...{ test: COVERED, name: 'told apart' },
    fault: fault(COVERAGE, 'earlierProof', drop('operand', 'proved')),
  },
  {
    rule: 'proofs',
    says: 'the stored hashes of the tree are compared with the log',
    ...{ test: COVERED, name: 'an edited' },
    fault: fault(TILES, 'StoredTiles.#compare', replace('condition', 'differs', 'false')),
  },
  {
    rule: 'proofs',
    says: 'the stored edge of the tree is compared with the log',
    ...{ test: COVERED, name: 'an edited' },
    fault: fault(TILES, 'StoredEdge.compare', replace('value', 'isSound', 'true')),
  },
  {
    rule: 'proofs',
    says: 'a pack is not checked against keys that sign no log',
    ...{ test: 'test/api/cli/pack.test.ts', name: 'of another type' },
    fault: fault('api/cli/commands/prove/pack.ts', 'logKey', replace('condition', 'type ED25519', 'true')),
  },
  {
    rule: 'proofs',
    says: 'a vanished stream is named as lost, not unknown',
    ...{ test: 'test/proof/vanished.test.ts', name: 'over HTTP' },
    fault: fault('api/operations/streams/prove-stream.ts', 'asStored', replace('condition', 'seen head', 'false')),
  },
  {
    rule: 'proofs',
    says: 'heads of before an accepted loss raise no alarm before the next signature',
    ...{ test: 'test/proof/log-signer.test.ts', name: 'not signed until the loss' },
    fault: fault(VERIFY, 'isCut', drop('operand', 'isPending')),
  },
  {
    rule: 'proofs',
    says: 'an anchor that the log contradicts tells of it at the start',
    ...{ test: OLDER, name: 'written anew' },
    fault: fault('domain/proof/runtime/log-continues.ts', 'logContinues', drop('operand', 'equalBytes')),
  },
  {
    rule: 'proofs',
    says: 'a start does not wait for an anchor that never answers',
    ...{ test: OLDER, name: 'never answers' },
    fault: fault('api/process/host/losses/anchors-ahead.ts', 'anchorsAhead', replace('call', 'within', '$4')),
  },
]
