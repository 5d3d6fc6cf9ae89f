import { expect, test } from 'vitest'
import { LogError } from '../../../domain/log/errors.ts'
import { completes, harness, testSpec } from '../../support/harness.ts'
import { faulty } from '../../support/log/faulty.ts'

test('a drive of a finished run ends as the run did, also if the log stops answering', async () => {
  const first = harness(() => completes())
  const runId = await first.start(testSpec())
  expect(await first.drive(runId)).toEqual({ end: 'done' })
  const log = faulty(first.log, {
    read: (stream, options) => {
      if ((options?.from ?? 0) > 0) throw new LogError('LOG_UNAVAILABLE', 'the log does not answer')
      return first.log.read(stream, options)
    },
  })
  const lease = async () => ({ lost: new AbortController().signal, release: async () => undefined })
  const other = harness(() => completes(), { log, ports: { lease } })
  expect(await other.drive(runId)).toEqual({ end: 'done' })
})
