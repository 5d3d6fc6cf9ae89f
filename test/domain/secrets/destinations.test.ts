import { describe, expect, test } from 'vitest'
import { programsOf } from '../../../domain/calls/command-line.ts'
import { approvalHash, questionHash } from '../../../domain/calls/question-hash.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { GivenSecret, grantOf } from '../../../domain/secrets/destinations.ts'
import { grantText } from '../../../domain/secrets/grant-text.ts'
import { hostOfUrl } from '../../../domain/secrets/hosts.ts'

describe('a grant', () => {
  test.each([
    ['NAME', { name: 'NAME' }],
    ['NAME=@server:tracker', { name: 'NAME', server: 'tracker' }],
    ['NAME=@host:api.example.com', { name: 'NAME', host: 'api.example.com' }],
    ['NAME=@host:api.example.com:8443', { name: 'NAME', host: 'api.example.com:8443' }],
    ['NAME=@host:localhost:8080', { name: 'NAME', host: 'localhost:8080' }],
    ['NAME=@host:[::1]:8080', { name: 'NAME', host: '[::1]:8080' }],
    ['NAME=@command:git', { name: 'NAME', command: 'git' }],
    ['NAME=@command:x86_64-linux-gnu-g++', { name: 'NAME', command: 'x86_64-linux-gnu-g++' }],
  ])('%s is read, and written as before', (text, grant) => {
    expect(grantOf(text)).toEqual(grant)
    expect(grantText(grant)).toBe(text)
  })

  test.each([
    ['NAME=@host:API.Example.com', 'api.example.com'],
    ['NAME=@host:api.example.com:443', 'api.example.com'],
    ['NAME=@host:bücher.example', 'xn--bcher-kva.example'],
  ])('%s is kept in the form of addresses', (text, host) => {
    expect(grantOf(text)).toEqual({ name: 'NAME', host })
  })

  test.each([
    ['', /expected NAME \(files/],
    ['=@host:a.example', /expected NAME \(files/],
    ['NAME=', /NAME=@host:HOST/],
    ['NAME=a', /NAME=@host:HOST/],
    ['NAME=@agent:claude', /NAME=@command:PROGRAM/],
    ['NAME=@server:Tracker', /small letters/],
    ['NAME=@host:', /name one host/],
    ['NAME=@host:*.example.com', /without https:\/\/ and "\*"/],
    ['NAME=@host:https://api.example.com', /without https/],
    ['NAME=@host:api.example.com/v1', /name one host/],
    ['NAME=@host:api.example.com.', /name one host/],
    ['NAME=@host:u@api.example.com', /name one host/],
    ['NAME=@host:0x7f.1', /name one host/],
    ['NAME=@host:a b', /name one host/],
    ['NAME=@command:', /name one program/],
    ['NAME=@command:/usr/bin/git', /without a path/],
    ['NAME=@command:git push', /name one program/],
    ['NAME=@command:sh', /starts any other program/],
    ['NAME=@command:env', /starts any other program/],
  ])('%j is refused with the right form', (text, told) => {
    expect(grantOf(text)).toMatch(told)
  })

  test('of an older spec is read as it is', () => {
    const reference = `secret:ku_${'a'.repeat(26)}`
    for (const one of [
      { name: 'A', reference },
      { name: 'A', reference, server: 's' },
    ])
      expect(GivenSecret.parse(one)).toEqual(one)
  })
})

test.each([
  ['https://api.example.com/x?y', 'api.example.com'],
  ['https://API.example.com:443/', 'api.example.com'],
  ['https://api.example.com:8443', 'api.example.com:8443'],
  ['http://localhost', 'localhost:80'],
  ['http://127.1:8080', '127.0.0.1:8080'],
  ['http://[0:0::1]:8080', '[::1]:8080'],
  ['http://api.example.com', null],
  ['http://localhost.example.com', null],
  ['http://127.0.0.1.example.com', null],
  ['https://u@api.example.com', null],
  ['https://:p@api.example.com', null],
  ['https://api.example.com.', null],
  ['ftp://api.example.com', null],
])('a request to %s goes to the host %s', (url, host) => {
  expect(hostOfUrl(new URL(url))).toBe(host)
})

test.each([
  ['git push', ['git']],
  ['git fetch && git push; jq . | tee x', ['git', 'git', 'jq', 'tee']],
  ["git commit -m 'a; b && c | d'", ['git']],
  ['git commit -m "a; b" \\; c', ['git']],
  ["'git' push || true", ['git', 'true']],
  ['git push &', null],
  ['git push & true', null],
  ['git $(id)', null],
  ['git "`id`"', null],
  ['X=1 git push', null],
  ['git push > out', null],
  ['git push\ntrue', null],
  ['git;', null],
  ['; git', null],
  ['if true; then git; fi', null],
  ["git 'open", null],
  ['', null],
])('the programs of %j are %j', (command, programs) => {
  expect(programsOf(command)).toEqual(programs)
})

describe('the hash of a question', () => {
  const asked = { for: 'approval', toolCallId: 'r.t1.c0', argumentsHash: 'a'.repeat(64), asked: 'then' } as const
  const sent = { name: 'KEY', to: 'host api.example.com' }

  test('without secrets is that of older versions', () => {
    expect(questionHash(asked)).toBe(sha256(canonicalBytes({ ...asked, files: [] })))
    const call = { id: 'r.t1.c0', argumentsHash: 'a'.repeat(64) }
    expect(approvalHash(call, 0, [])).toBe(
      sha256(canonicalBytes({ ...asked, asked: '1970-01-01T00:00:00.000Z', files: [] })),
    )
  })

  test('changes with a secret, its name and its destination', () => {
    const hashes = [
      [],
      [sent],
      [{ ...sent, to: 'host evil.example.com' }],
      [{ ...sent, name: 'OTHER' }],
      [sent, { ...sent, name: 'OTHER' }],
    ]
    const call = { id: 'r.t1.c0', argumentsHash: 'a'.repeat(64) }
    expect(new Set(hashes.map((secrets) => questionHash(asked, [], secrets))).size).toBe(hashes.length)
    expect(new Set(hashes.map((secrets) => approvalHash({ ...call, secrets }, 0, []))).size).toBe(hashes.length)
  })
})
