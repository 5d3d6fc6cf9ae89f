import { afterAll, expect, it } from 'vitest'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { localBackend } from '../../../api/process/owner/local.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { freshFolders } from '../../support/folders.ts'

const { data, remove } = freshFolders()
afterAll(remove)

it('the server records the address of the connection with failed logins and with the first use of a key from it', async () => {
  const config = loadConfig({ flags: { data, host: '127.0.0.1', port: 0 }, env: {} })
  const services = await openServices(config, 'owner', { autoDrive: false })
  const faults: unknown[] = []
  const backend = await localBackend(services, { config, env: {}, tcp: true, onFault: (error) => faults.push(error) })
  try {
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const begun = new Request('http://localhost/v1/access', { ...asked, body: JSON.stringify({ principal: 'ann' }) })
    const { key } = (await (await backend.fetch(begun)).json()) as { key: string }
    for (const one of ['ku_key_nonsense', key])
      await (await fetch(`${backend.url}/v1/runs`, { headers: { authorization: `Bearer ${one}` } })).text()
    await services.uses.record()
    const types = ['login_failed', 'key_used_first_from']
    const events = (await Array.fromAsync(services.log.read('access-uses', { types }))).flat()
    const addresses = events.map(({ header, body }) => [header.type, JSON.parse(text(body!)).address])
    expect(addresses).toEqual(types.map((type) => [type, '127.0.0.1']))
    expect(faults).toEqual([])
  } finally {
    await backend.close()
  }
})

const text = (body: Uint8Array): string => new TextDecoder().decode(unsalted(body))
