import { afterEach, expect, it, test, vi } from 'vitest'
import { passwordsOf } from '../../../api/process/servers/passwords.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { inProcess } from '../support/cli.ts'
import { deployment } from './deployment.ts'

const of = (postgres: string, eventstore = 'esdb://a:2113?tls=false') => new Set(passwordsOf({ eventstore, postgres }))

afterEach(() => void vi.unstubAllEnvs())

test.each([
  ['postgres://keepup:Corr3ct@horse@battery@h:5911/db', ['Corr3ct@horse@battery']],
  ['postgres://keepup:P@ssw0rd@h/db?sslmode=disable', ['P@ssw0rd']],
  ['postgres://keepup:a:b@@h/db', ['a:b@']],
  ['postgres://keepup:Corr3ct%40horse@h/db', ['Corr3ct%40horse', 'Corr3ct@horse']],
  ['postgres://keepup:half%40raw@rest@h/db', ['half%40raw@rest', 'half@raw@rest']],
  ['postgres://keepup:100%sure@h/db', ['100%sure']],
  ['postgres://keepup:with space@h/db', ['with space']],
  ['postgres://keepup:quiet@/db?host=/run/sock', ['quiet']],
  ['postgres://keepup@/db?host=/run/sock&password=a+b%21', ['a+b%21', 'a+b!', 'a b!']],
  ['postgres://keepup:old@h/db?password=really', ['old', 'really']],
  ['postgres://keepup@h/db', []],
  ['postgres://h:5432/db?application_name=a:b@c', []],
])('%s: what the client reads and what stands there', (postgres, passwords) => {
  expect(of(postgres)).toEqual(new Set(passwords))
})

test("the event store's, as it stands there and as it is meant; and one that the client finds in the environment", () => {
  vi.stubEnv('PGPASSWORD', 'from-outside')
  const eventstore = 'esdb://ops:ch%40ngeit@es.example:2113'
  expect(of('postgres://keepup@h/db', eventstore)).toEqual(new Set(['ch%40ngeit', 'ch@ngeit', 'from-outside']))
})

describeWithSharedPostgres('on servers', (server) => {
  const { folder, eventstore } = deployment()

  it('a password with an @ in it works, and none of it is recorded', async () => {
    const env = {
      KEEPUP_MODEL: folder.env.KEEPUP_MODEL,
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: server().url.replace('keepup@', 'keepup:Corr3ct@horse@battery@'),
    }
    const task = 'finish; the password is Corr3ct@horse@battery'
    const { code, err } = await inProcess(['--data', folder.data, 'run', task, '--no-workspace'], env)
    expect(code, err).toBe(0)
    const recorded = eventstore.store.all.map((event) => JSON.stringify(event)).join('\n')
    const texts = eventstore.store.all.map((event) => Buffer.from(event.data).toString('utf8')).join('\n')
    expect(texts).toContain('the password is secret:ku_')
    for (const part of ['Corr3ct', 'horse', 'battery']) expect(texts + recorded).not.toContain(part)
  })
})
