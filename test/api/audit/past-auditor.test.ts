import { expect, it } from 'vitest'
import type { SqlAuditor, SqlLimits } from '../../../api/operations/sql/auditor.ts'
import { ProcessAuditor } from '../../../api/process/embedded/sql/process-auditor.ts'
import type { PastTables } from '../../../projections/index.ts'

const LIMITS = { rows: 1, ms: 1_000 }
const ask = (auditor: SqlAuditor, limits: SqlLimits = LIMITS) =>
  auditor.ask('select 1', limits, { cursor: { logId: 'l', position: 9, hash: 'h' }, erased: false })

/** Past tables whose fold never ends. */
const endless: PastTables['at'] = (_cursor, _query, signal) =>
  new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))

it('questions about past positions wait in a queue of their own, and a close ends them', async () => {
  const auditor = new ProcessAuditor('/nowhere', { at: endless })
  const waiting = [ask(auditor), ask(auditor), ask(auditor), ask(auditor)].map((one) => one.catch((error) => error))
  await expect(ask(auditor)).rejects.toMatchObject({
    code: 'SQL_BUSY',
    message: expect.stringContaining('4 questions about past'),
  })
  await auditor.close()
  for (const one of waiting)
    expect(await one).toMatchObject({ code: 'SQL_UNAVAILABLE', message: expect.stringContaining('ends here') })
})

it('a fold that takes too long is refused', async () => {
  await expect(ask(new ProcessAuditor('/nowhere', { at: endless }, { pastMs: 0 }))).rejects.toMatchObject({
    code: 'SQL_LIMIT',
  })
})

it('a fold ends when the client leaves', async () => {
  const left = new AbortController()
  const asked = ask(new ProcessAuditor('/nowhere', { at: endless }), { ...LIMITS, signal: left.signal })
  left.abort()
  await expect(asked).rejects.toMatchObject({ code: 'SQL_UNAVAILABLE', message: expect.stringContaining('left') })
})

it('a state with texts that were erased later is refused', async () => {
  const at: PastTables['at'] = async (_, query) => query({ path: '/nowhere', erasedLater: 2 })
  await expect(ask(new ProcessAuditor('/nowhere', { at }))).rejects.toMatchObject({ code: 'BODY_ERASED' })
})
