import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const file = join(import.meta.dirname, '../../docker-compose.yml')

test('the compose file pins its servers, keeps them on loopback, checks their health and keeps their data', {
  tags: ['docker-compose'],
}, () => {
  const config = execFileSync('docker-compose', ['-f', file, '--profile', 'keepup', 'config'], { encoding: 'utf8' })
  const services = servicesOf(config)
  expect(Object.keys(services).sort()).toEqual(['eventstore', 'keepup', 'postgres'])
  for (const [name, text] of Object.entries(services)) {
    expect(text, name).toMatch(/^ {4}image: \S+:\d+\.\d+[\w.-]*$/m)
    const ports = /^ {4}ports:\n((?: {4} *-? .*\n)+)/m.exec(text)![1]!
    expect(ports, name).toMatch(/127\.0\.0\.1/)
    expect(ports, name).not.toMatch(/0\.0\.0\.0|- ["']?\d+:/)
    expect(text, name).toMatch(/^ {4}healthcheck:\n(?: {6}.*\n)* {6}retries: \d+/m)
    expect(text, name).toMatch(/-data:/)
  }
})

/** The text of each service of a normalised file. */
function servicesOf(config: string): Record<string, string> {
  const part = /^services:\n((?: +.*\n)+)/m.exec(config)![1]!
  const found = part.matchAll(/^ {2}(\w+):\n((?: {4}.*\n)+)/gm)
  return Object.fromEntries([...found].map(([, name, text]) => [name!, text!]))
}
