import { describe, expect, it } from 'vitest'
import { requestLog } from '../../../api/process/service-log/request-log.ts'
import { serviceLog } from '../../../api/process/service-log/service-log.ts'

function recording(logFormat: 'text' | 'json', logLevel: 'debug' | 'info' | 'warn' | 'error' = 'info') {
  const lines: string[] = []
  const log = serviceLog(
    { logFormat, logLevel },
    (line) => lines.push(line),
    (text) => text.replaceAll('\n', '⏎'),
  )
  return { lines, log }
}

const ANSWERED = {
  ...{ requestId: 'r-1', method: 'GET', path: '/v1/runs', operation: 'listRuns', status: 200, ms: 3 },
  principal: 'ada',
} as const

describe('the log of a service', () => {
  it('writes text lines with a time, and names every level but info', () => {
    const { lines, log } = recording('text')
    log.info('serving')
    log.error('no room')
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z serving\n$/)
    expect(lines[1]).toMatch(/Z error: no room\n$/)
  })

  it('cleans text lines, so that a message cannot forge a line', () => {
    const { lines, log } = recording('text')
    log.info('path\n2026-01-01T00:00:00.000Z error: forged')
    expect(lines).toHaveLength(1)
    expect(lines[0]?.match(/\n/g)).toHaveLength(1)
  })

  it('writes one JSON object per line, with the fields of the message', () => {
    const { lines, log } = recording('json')
    log.warn('a\nb', { requestId: 'r-1' })
    const line = JSON.parse(lines[0]!) as Record<string, unknown>
    expect(lines[0]?.match(/\n/g)).toHaveLength(1)
    expect(line).toMatchObject({ level: 'warn', msg: 'a\nb', requestId: 'r-1' })
    expect(new Date(String(line.time)).toISOString()).toBe(line.time)
  })

  it('leaves out lines below its level', () => {
    const { lines, log } = recording('text', 'warn')
    log.debug('one')
    log.info('two')
    log.warn('three')
    expect(lines.map((line) => line.split(' ').slice(1).join(' '))).toEqual(['warn: three\n'])
  })

  it('logs a request for debugging, a refusal of the service as a warning, and an error once, with its request', () => {
    const { lines, log } = recording('json', 'info')
    const { onRequest, onFault } = requestLog(log)
    onRequest(ANSWERED)
    expect(lines).toEqual([])
    onRequest({ ...ANSWERED, status: 503 })
    onFault(new Error('lost'), '/v1/runs', 'r-2')
    onRequest({ ...ANSWERED, requestId: 'r-2', status: 500 })
    const [answer, fault, ...more] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(more).toEqual([])
    expect(answer).toMatchObject({ level: 'warn', requestId: 'r-1', status: 503, principal: 'ada', ms: 3 })
    expect(fault).toMatchObject({ level: 'error', requestId: 'r-2' })
    expect(fault?.msg).toMatch(/^request r-2: \/v1\/runs: Error: lost\n/)
  })
})
