import { expect, it } from 'vitest'
import { loginUrl } from '../../../api/process/servers/let-auditors-read.ts'
import { scramVerifier } from '../../../projections/engine/postgres/scram.ts'

it('the verifier of a password is that of RFC 7677', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
  expect(scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  )
})

it.each([
  ['postgres://keepup:secret@db:5432/agents', 'postgres://asks:word@db:5432/agents'],
  [
    'postgres://db/agents?user=keepup&sslmode=require&password=secret',
    'postgres://asks:word@db/agents?sslmode=require',
  ],
  ['postgres://db/agents?user=keepup&password=secret', 'postgres://asks:word@db/agents'],
  [
    'postgres://db/agents?password=secret&user=keepup&sslmode=require',
    'postgres://asks:word@db/agents?sslmode=require',
  ],
  ['postgres://db/agents?%70assword=secret&application_name=a', 'postgres://asks:word@db/agents?application_name=a'],
  ['postgres://keepup:se@cret@db:5432/agents', 'postgres://asks:word@db:5432/agents'],
  ['postgres://db', 'postgres://asks:word@db'],
  ['postgres://keepup@/agents?host=/run/postgresql', 'postgres://asks:word@/agents?host=/run/postgresql'],
])('the connection string of a login has nothing of the login of the tables: %s', (postgres, expected) => {
  expect(loginUrl(postgres, 'asks', 'word')).toBe(expected)
})
