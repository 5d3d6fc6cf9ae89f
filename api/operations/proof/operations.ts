import { isAbsolute } from 'node:path'
import type { z } from 'zod'
import { COSIGNATURE, ED25519, type NoteKey, parseVkey } from '../../../domain/log/proof/note.ts'
import { NO_QUORUM } from '../../../domain/log/proof/policy.ts'
import { ProofError } from '../../../domain/log/proof/proof-error.ts'
import { PROOF_ID, proof } from '../../../domain/proof/kind.ts'
import { showAnchors } from '../../../projections/index.ts'
import { recordRequest } from '../access/record-request.ts'
import { StartHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { Problem } from '../problem.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { askerOf } from '../streams/record.ts'
import { currentHead, headView, proveConsistency, proveEvent, treeOf, verifyProof } from './heads.ts'
import * as schema from './schemas.ts'
import { failureView, proofStatus } from './status.ts'

const read = { right: 'log.verify' } as const
const write = { right: 'system.operate' } as const

function signingOf(s: Services) {
  mustWrite(s)
  const signing = s.proof.signing()
  if (signing !== null) return signing
  throw new Problem('NOT_SIGNED', 'this process does not sign the log; ask the process that writes it')
}

/** Throws a Problem unless an anchor of this kind can have this target. */
function checkAnchor({ anchor, kind, target, vkey }: z.output<typeof schema.AddAnchor>): void {
  const isFolder = kind === 'folder' || kind === 'git'
  if (isFolder && !isAbsolute(target)) throw new Problem('INVALID_REQUEST', `target: expected an absolute path`)
  if (!isFolder && !/^https?:$/.test(URL.parse(target)?.protocol ?? ''))
    throw new Problem('INVALID_REQUEST', `target: expected the URL of a ${kind} service`)
  if ((kind === 'witness') !== (vkey !== undefined))
    throw new Problem(
      'INVALID_REQUEST',
      kind === 'witness' ? 'vkey: a witness needs its verifier key' : 'vkey: only a witness has a key',
    )
  if (vkey !== undefined && anchor === NO_QUORUM)
    throw new Problem('INVALID_REQUEST', `anchor: no witness can be named "${anchor}" in a policy; choose another name`)
  if (vkey !== undefined && keyIn(vkey)?.type !== COSIGNATURE)
    throw new Problem('INVALID_REQUEST', `vkey: expected the verifier key of a witness (type ${COSIGNATURE})`)
}

/** The key in a verifier key. Null: the text is none. */
function keyIn(vkey: string): NoteKey | null {
  try {
    return parseVkey(vkey)
  } catch (error) {
    if (error instanceof ProofError) return null
    throw error
  }
}

function witnessOf(s: Services) {
  if (s.witness !== null) return s.witness
  throw new Problem('NOT_SIGNED', 'this program opened its log without a witness; use openKeepUp')
}

/** The signed heads of the log, the proofs that they allow, and the anchors that keep them elsewhere. */
export const PROOF_OPERATIONS = [
  operation({
    ...{ name: 'getProofHead', http: 'GET /v1/proof/head', ...read },
    summary: 'The signed head of the log: name, number of events and root of its tree, and the verifier key',
    input: {},
    output: schema.CurrentHead,
    answers: { 200: 'The head' },
    async run(s) {
      const head = headView(await currentHead(s))
      const state = await s.streams.state(proof, PROOF_ID)
      return { ...head, vkey: state?.origins.at(-1)?.vkeys.at(-1) ?? null }
    },
  }),
  operation({
    ...{ name: 'getProofStatus', http: 'GET /v1/proof/status', ...read },
    summary: 'Whether the log is signed now, its last head, and what each anchor keeps',
    input: {},
    output: schema.ProofStatus,
    answers: { 200: 'The status' },
    run: proofStatus,
  }),
  operation({
    ...{ name: 'listProofHeads', http: 'GET /v1/proof/heads', ...read },
    summary: 'The signed heads of the log, the first one first',
    input: { query: schema.HeadsQuery },
    output: schema.ProofHeads,
    answers: { 200: 'A page of heads' },
    async run(s, { query: { after, limit } }) {
      const heads = await treeOf(s).heads(after, limit)
      return { heads: heads.map(headView), next: heads.length < limit ? null : heads.at(-1)!.number }
    },
  }),
  operation({
    ...{ name: 'proveEvent', http: 'GET /v1/streams/{stream}/events/{revision}/proof', ...read },
    summary: 'The proof that one event is in the log, as a file that needs no keepup',
    input: { params: schema.EventParams },
    output: schema.EventProof,
    answers: { 200: 'The proof' },
    run: (s, { params: { stream, revision } }) => proveEvent(s, stream, revision),
  }),
  operation({
    ...{ name: 'proveConsistency', http: 'GET /v1/proof/consistency', ...read },
    summary: 'The proof that the log of a later head begins with that of an earlier one',
    input: { query: schema.ConsistencyQuery },
    output: schema.ConsistencyProof,
    answers: { 200: 'The hashes, as RFC 6962 has them' },
    run: async (s, { query: { from, to } }) => ({ from, to, hashes: await proveConsistency(s, from, to) }),
  }),
  operation({
    ...{ name: 'verifyProof', http: 'GET /v1/proof/verify', ...read },
    summary: 'Compare the whole log with its signed heads, its keys and its anchors',
    input: { query: schema.VerifyHeadsQuery },
    output: schema.VerifiedHeads,
    answers: { 200: 'What was found' },
    run: (s, { query: { anchors, streams, checkpoint, vkey } }) => {
      if (vkey !== undefined && keyIn(vkey)?.type !== ED25519)
        throw new Problem('INVALID_REQUEST', 'vkey: expected the verifier key of a log (name+id+key); copy it whole')
      return verifyProof(s, {
        ...{ outside: anchors === 'true', perStream: streams === 'true', checkpoint },
        vkeys: vkey === undefined ? [] : [vkey],
      })
    },
  }),
  operation({
    ...{ name: 'rotateLogKey', http: 'POST /v1/proof/rotate', ...write },
    summary: 'Replace the key that signs the heads; the old key signs the new one',
    input: { body: schema.RotateKey },
    output: schema.RotatedKey,
    answers: { 200: 'Replaced' },
    async run(s, { body: { by, lost } }, { options }) {
      const { signer } = signingOf(s)
      const actor = actorOf('user', by, options)
      return { vkey: lost === true ? await signer.beginAnew(actor) : await signer.rotate(actor) }
    },
  }),
  operation({
    ...{ name: 'rebuildProofTree', http: 'POST /v1/proof/rebuild', ...write },
    summary: 'Make the stored tree again from the log; the signed heads stay',
    input: {},
    output: schema.RebuiltTree,
    answers: { 200: 'Rebuilt' },
    async run(s, _, caller) {
      const { signer } = signingOf(s)
      await recordRequest(s, caller, 'rebuildProofTree')
      return { events: await signer.rebuild() }
    },
  }),
  operation({
    ...{ name: 'listAnchors', http: 'GET /v1/anchors', ...read },
    summary: 'The places outside the log that keep its heads',
    input: {},
    output: schema.AnchorList,
    answers: { 200: 'The anchors' },
    awaitsTables: true,
    async run(s) {
      const state = await s.streams.state(proof, PROOF_ID)
      const rows = new Map((await s.read.rows(showAnchors)).value.anchors.map((row) => [row.anchor, row]))
      const failures = await s.proof.store?.failures()
      const anchors = Object.entries(state?.anchors ?? {}).map(([anchor, as]) => {
        const failure = failures?.get(`anchor:${anchor}`)
        const { size = null, anchored_at: anchoredAt = null } = rows.get(anchor) ?? {}
        return {
          ...{ anchor, ...as, size, anchoredAt },
          failure: failure === undefined ? null : failureView(failure),
        }
      })
      return { anchors }
    },
  }),
  operation({
    ...{ name: 'addAnchor', http: 'POST /v1/anchors', ...write },
    summary: 'Keep the heads of the log in another place too: a folder, a git repository, a witness, or time stamps',
    input: { headers: StartHeaders, body: schema.AddAnchor },
    output: schema.AnchorChanged,
    answers: { 200: 'Added' },
    async run(s, { body }, caller) {
      const { by, anchor, kind, target, vkey } = body
      checkAnchor(body)
      await signingOf(s).signer.latest()
      const as = { kind, target, ...(vkey !== undefined && { vkey }) }
      const asker = await askerOf(s, caller, by, body)
      return { anchor, ...(await s.streams.submit(proof, PROOF_ID, { kind: 'add', anchor, as }, asker)) }
    },
  }),
  operation({
    ...{ name: 'removeAnchor', http: 'POST /v1/anchors/{anchor}/remove', ...write },
    summary: 'Stop using an anchor; what it holds stays there',
    input: { params: schema.AnchorParam, headers: StartHeaders, body: schema.RemoveAnchor },
    output: schema.AnchorChanged,
    answers: { 200: 'Removed' },
    async run(s, { params: { anchor }, body }, caller) {
      mustWrite(s)
      const asker = await askerOf(s, caller, body.by, { remove: anchor })
      const done = await s.streams.submit(proof, PROOF_ID, { kind: 'remove', anchor }, asker)
      await s.proof.store?.report(`anchor:${anchor}`, null).catch(() => undefined)
      return { anchor, ...done }
    },
  }),
  operation({
    ...{ name: 'anchorNow', http: 'POST /v1/anchors/now', ...write },
    summary: 'Leave the head of the log with one anchor, or with all, now',
    input: { body: schema.AnchorNow },
    output: schema.AnchorsMade,
    answers: { 200: 'What each anchor did' },
    async run(s, { body: { anchor, by } }, { options }) {
      const { anchors } = signingOf(s)
      if (anchor !== undefined && (await s.streams.state(proof, PROOF_ID))?.anchors[anchor] === undefined)
        throw new Problem('NOT_FOUND', `there is no anchor ${anchor}; list the anchors to find it`)
      return { anchors: await anchors.now(anchor, actorOf('user', by, options)) }
    },
  }),
  operation({
    ...{ name: 'listWitnessedLogs', http: 'GET /v1/witness/logs', ...read },
    summary: 'The other logs whose heads this keepup cosigns as a witness',
    input: {},
    output: schema.WitnessedLogs,
    answers: { 200: 'The logs' },
    async run(s) {
      const { vkey, logs } = await witnessOf(s).state()
      const known = Object.entries(logs).filter(([, { vkeys }]) => vkeys.length > 0)
      return {
        vkey,
        logs: known.map(([origin, { vkeys, last }]) => ({
          ...{ origin, vkeys, size: last?.size ?? null },
          cosignedAt: last === null ? null : new Date(last.at).toISOString(),
        })),
      }
    },
  }),
  operation({
    ...{ name: 'getWitnessKey', http: 'POST /v1/witness/key', ...write },
    summary: 'The key of the witness, for the logs; makes one if there is none, and after an accepted loss',
    input: { body: schema.WitnessKeyWanted },
    output: schema.WitnessKey,
    answers: { 200: 'The key' },
    async run(s, { body: { by } }, { options }) {
      mustWrite(s)
      return { vkey: await witnessOf(s).key(actorOf('user', by, options)) }
    },
  }),
  operation({
    ...{ name: 'addWitnessedLog', http: 'POST /v1/witness/logs', ...write },
    summary: 'Cosign the heads of another log from now on',
    input: { headers: StartHeaders, body: schema.AddWitnessedLog },
    output: schema.WitnessedLogChanged,
    answers: { 200: 'Added' },
    async run(s, { body }, caller) {
      mustWrite(s)
      const key = keyIn(body.vkey)
      if (key === null)
        throw new Problem('INVALID_REQUEST', 'vkey: expected the verifier key of a log (name+id+key); copy it whole')
      const origin = key.name
      const done = await witnessOf(s).add(body.vkey, await askerOf(s, caller, body.by, body))
      return { origin, vkey: (await witnessOf(s).state()).vkey, ...done }
    },
  }),
  operation({
    ...{ name: 'removeWitnessedLog', http: 'POST /v1/witness/logs/remove', ...write },
    summary: 'Cosign no more heads of a log; the witness remembers the last one',
    input: { headers: StartHeaders, body: schema.RemoveWitnessedLog },
    output: schema.WitnessedLogChanged,
    answers: { 200: 'Removed' },
    async run(s, { body }, caller) {
      mustWrite(s)
      const { origin } = body
      const done = await witnessOf(s).remove(origin, await askerOf(s, caller, body.by, body))
      return { origin, vkey: (await witnessOf(s).state()).vkey, ...done }
    },
  }),
] as const
