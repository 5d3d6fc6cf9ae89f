import { Duplex } from 'node:stream'
import type { EventStoreDBClient } from '@eventstore/db-client'
import streamsPb, { type BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { expect, test } from 'vitest'
import { type AppendCall, AppendStream } from '../../../../adapters/eventstore/append-stream.ts'
import { encode } from '../../../../adapters/eventstore/codec.ts'
import { NEW, Sealer } from '../../../support/log/sealing.ts'

/** A client whose streaming calls do what a test says. */
function fake(served: (request: BatchAppendReq, call: Duplex) => void) {
  const calls: Duplex[] = []
  const batchAppend = () => {
    const call: Duplex = new Duplex({
      objectMode: true,
      read: () => undefined,
      write(request: BatchAppendReq, _, done) {
        served(request, call)
        done()
      },
    })
    calls.push(call)
    return call
  }
  const inner = {
    callArguments: () => [],
    GRPCStreamCreator: (_: unknown, __: string, open: (grpc: unknown) => Duplex) => async () => open({ batchAppend }),
  }
  const stream = new AppendStream(inner as unknown as EventStoreDBClient)
  const send = async (...append: Parameters<AppendCall['send']>) => (await stream.call()).send(...append)
  return { calls, appends: { send } }
}

function success(request: BatchAppendReq) {
  const success = new streamsPb.BatchAppendResp.Success()
  success.setCurrentRevision('0')
  return new streamsPb.BatchAppendResp().setCorrelationId(request.getCorrelationId()).setSuccess(success)
}

const batch = new Sealer().batch('agent-a', NEW, [{}]).map(encode)

test('a call that the server ends normally fails the waiting appends, and the next append opens a new call', async () => {
  let ends = true
  const { calls, appends } = fake((request, call) => call.push(ends ? null : success(request)))
  await expect(appends.send('s', -1, batch)).rejects.toThrow('the server ended the stream of appends')
  ends = false
  expect(await appends.send('s', -1, batch)).toEqual({ revision: 0n, position: undefined })
  expect(calls).toHaveLength(2)
})

test('an answer without a meaning fails its own append, and one without a question none', async () => {
  const { calls, appends } = fake((request, call) => {
    call.push(new streamsPb.BatchAppendResp())
    call.push(new streamsPb.BatchAppendResp().setCorrelationId(request.getCorrelationId()))
    call.push(success(request))
  })
  await expect(appends.send('s', -1, batch)).rejects.toThrow('neither success nor error')
  expect(calls[0]!.destroyed).toBe(false)
})

test('appends that are sent before the call is there leave in call order, over one call', async () => {
  const names: string[] = []
  const { calls, appends } = fake((request, call) => {
    names.push(Buffer.from(request.getOptions()!.getStreamIdentifier()!.getStreamName_asU8()).toString())
    call.push(success(request))
  })
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => appends.send(name, -1, batch)))
  expect(names).toEqual(['a', 'b', 'c', 'd'])
  expect(calls).toHaveLength(1)
})

test('a lost call fails its own waiting appends and none of the next call', async () => {
  const held: (() => void)[] = []
  const { calls, appends } = fake((request, call) => held.push(() => call.push(success(request))))
  const first = appends.send('a', -1, batch)
  await expect.poll(() => held.length).toBe(1)
  calls[0]!.emit('error', new Error('lost'))
  const second = appends.send('b', -1, batch)
  await expect(first).rejects.toThrow()
  await expect.poll(() => held.length).toBe(2)
  calls[0]!.emit('error', new Error('lost once more'))
  for (const answer of held) answer()
  expect(await second).toMatchObject({ revision: 0n })
})

test('an ended call takes no more appends, also where its error is not from gRPC', async () => {
  const { calls, appends } = fake((request, call) => call.push(success(request)))
  await appends.send('a', -1, batch)
  const late = appends.send('b', -1, batch)
  calls[0]!.emit('error', Object.assign(new Error('no gRPC'), { code: 7777 }))
  await expect(late).rejects.toThrow('no gRPC')
  expect(await appends.send('c', -1, batch)).toMatchObject({ revision: 0n })
  expect(calls).toHaveLength(2)
})
