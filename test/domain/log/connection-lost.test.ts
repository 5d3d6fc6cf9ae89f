import { expect, test } from 'vitest'
import { connectionLost } from '../../../domain/log/connection-lost.ts'

const coded = (code: string) => Object.assign(new Error('said by another program'), { code })

test('of a connection that failed another one is sought, of what was asked none', () => {
  const lost = [
    '08006',
    '57P01',
    '57P03',
    '57P05',
    '25P03',
    '53300',
    '40001',
    '40P01',
    'ETIMEDOUT',
    'ECONNRESET',
    'EPIPE',
  ]
  const not = ['42P01', '42501', '53100', '57014', '23505', '28P01', '3D000', 'EACCES', '108006', 'ETIMEDOUT2']
  expect(lost.filter((code) => !connectionLost(coded(code)))).toEqual([])
  expect(not.filter((code) => connectionLost(coded(code)))).toEqual([])
  expect(connectionLost(new Error('Connection terminated unexpectedly'))).toBe(false)
  expect(connectionLost('Connection terminated')).toBe(false)
})
