import { expect, it } from 'vitest'
import { couldApprove } from '../../../domain/access/approvers.ts'
import { type AccessCommand, decideAccess } from '../../../domain/access/decide.ts'
import { type AccessState, evolveAccess, idsOfPerson } from '../../../domain/access/state.ts'

/** The state of access with these people, all of them approvers. */
function accessOf(...people: readonly string[]) {
  let state: AccessState | null = null
  const take = (command: AccessCommand): readonly string[] => {
    const types: string[] = []
    const emit = (type: string, body: object) => {
      types.push(type)
      state = evolveAccess(state, { type, body, bodyHash: 'a'.repeat(64) } as Parameters<typeof evolveAccess>[1])
    }
    decideAccess(state, command, emit, { now: 0 })
    return types
  }
  const person = (principal: string) => ({ principal, kind: 'person' as const, name: principal })
  const key = { key: '00000000', hash: 'a'.repeat(64), rights: null, expiresAt: null }
  take({ kind: 'begin', admin: person('admin'), key })
  for (const one of people) take({ kind: 'add', as: person(one), roles: ['approver'] })
  const idsOf = (id: string) => [...idsOfPerson(state!, id)].sort()
  return { take, idsOf, state: () => state }
}

it('ids that are linked through others belong to one person until a link between them goes', () => {
  const { take, idsOf } = accessOf('a', 'b', 'c', 'd')
  for (const [principal, other] of ['ab', 'bc', 'ca'] as const)
    expect(take({ kind: 'link', principal: principal!, other: other! })).toEqual(['principals_linked'])
  expect(take({ kind: 'link', principal: 'b', other: 'a' })).toEqual([])
  expect(idsOf('c')).toEqual(['a', 'b', 'c'])
  expect(take({ kind: 'unlink', principal: 'b', other: 'a' })).toEqual(['principals_unlinked'])
  expect(idsOf('a')).toEqual(['a', 'b', 'c'])
  expect(take({ kind: 'unlink', principal: 'a', other: 'b' })).toEqual([])
  take({ kind: 'unlink', principal: 'c', other: 'b' })
  expect([idsOf('a'), idsOf('b'), idsOf('d')]).toEqual([['a', 'c'], ['b'], ['d']])
})

it('an id keeps its links when it is removed, and can be linked afterwards', () => {
  const { take, idsOf } = accessOf('a', 'b', 'c')
  take({ kind: 'link', principal: 'a', other: 'b' })
  take({ kind: 'remove', principal: 'a', reason: null })
  take({ kind: 'link', principal: 'c', other: 'a' })
  expect(idsOf('b')).toEqual(['a', 'b', 'c'])
})

it('the owner of the data folder, linked to a person, could not approve what that person had asked for', () => {
  const { take, state } = accessOf('a', 'b')
  take({ kind: 'link', principal: 'a', other: 'recovery' })
  const excluded = couldApprove(state(), new Set(['user:a']), 1)!.filter((one) => one.excluded)
  expect(excluded.map(({ principal }) => principal)).toEqual(['a', 'recovery'])
})
