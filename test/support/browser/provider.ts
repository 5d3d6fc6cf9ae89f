import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** The secret of keepup at the issuer. */
export const CLIENT_SECRET = 'a-secret-that-only-the-test-knows'

/** A certified OpenID Connect issuer on this machine, with its own forms: anyone signs in with a name and any password. */
export async function startProvider(redirectUri: string) {
  const server = createServer((request, response) => handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'keepup', client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub', 'groups'], profile: ['preferred_username', 'name'] },
    // Claims are part of the ID token, not only of the answer of another endpoint.
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: `sub-${id}`, groups: [`${id}s`], preferred_username: id, name: `Name of ${id}` }),
    }),
    cookies: { keys: ['a-key-that-signs-cookies-of-the-issuer'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
  })
  const handle = provider.callback()
  return {
    issuer,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
