import { type CryptoKey, importJWK, type JWTPayload, SignJWT } from 'jose'
import { OAuth2Server } from 'oauth2-mock-server'
import { overNetwork } from '../../../api/http/network.ts'
import type { AccessEvent } from '../../../domain/access/events.ts'
import { bodyOf, openWorld } from './http.ts'

/** The audience of tokens of services. */
export const AUDIENCE = 'https://keepup.example'
/** keepup's name at the issuer. */
export const CLIENT = 'keepup'

export const ROLES_OF_GROUPS = [
  { claim: 'groups', value: 'readers', role: 'viewer' },
  { claim: 'groups', value: 'auditors', role: 'auditor' },
  { claim: 'groups', value: 'bosses', role: 'admin' },
]

/** An issuer on this machine. */
export async function startIssuer() {
  const server = new OAuth2Server()
  const { kid } = await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const issuer = server.issuer.url!
  const jwk = server.issuer.keys.get(kid)!
  const key = (await importJWK(jwk, 'RS256')) as CryptoKey
  const now = () => Math.floor(Date.now() / 1000)
  return {
    ...{ server, issuer, jwk, kid, key, now },
    /** A token; undefined claims are left out. */
    async token(claims: Readonly<Record<string, unknown>> = {}, header: { kid?: string; alg?: string } = {}) {
      const whole = { iss: issuer, aud: AUDIENCE, sub: 'svc-1', iat: now(), exp: now() + 300, groups: [], ...claims }
      const payload: JWTPayload = JSON.parse(JSON.stringify(whole))
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(key)
    },
  }
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>

/** A world with access, whose admin is ann. Requests go over the network, from one address. */
export async function openAccess(access: object, more: { settings?: object; heartbeatMs?: number } = {}) {
  const { settings, ...options } = more
  const world = await openWorld({ ...options, settings: { access, ...settings } })
  const { key } = await bodyOf<{ key: string }>(await world.ask('POST', '/v1/access', { body: { principal: 'ann' } }))
  const send = (
    bearer: string | null,
    method: string,
    path: string,
    { body, headers = {}, address = '203.0.113.7' }: { body?: unknown; headers?: object; address?: string | null } = {},
  ): Promise<Response> =>
    Promise.resolve(
      world.http.fetch(
        new Request(`http://localhost:7433${path}`, {
          method,
          headers: {
            ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
        overNetwork(address),
      ),
    )
  /** A request of ann that must succeed. */
  const admin = async <T = object>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await send(key, method, path, { body })
    if (answer.status >= 300) throw new Error(await answer.text())
    return (await answer.json()) as T
  }
  /** The facts of these types, oldest first. */
  const facts = async (...types: AccessEvent['type'][]) => {
    await world.services.uses.record()
    const found: { type: string; payload: object }[] = []
    for (const stream of ['access-rights', 'access-uses']) {
      if ((await world.services.log.head(stream)) === null) continue
      for (let from = 0; ; from += 100) {
        const { events } = await admin<{ events: { type: string; payload: object }[] }>(
          'GET',
          `/v1/streams/${stream}/events?limit=100&from=${from}`,
        )
        found.push(...events)
        if (events.length < 100) break
      }
    }
    return found
      .filter(({ type }) => types.includes(type as AccessEvent['type']))
      .map(({ type, payload }) => ({ type, ...payload }) as Record<string, unknown> & { type: string })
  }
  /** The reasons of failed logins that an act adds, without the counts. */
  const failures = async (act: () => Promise<unknown>) => {
    const before = (await facts('login_failed')).length
    await act()
    return (await facts('login_failed')).slice(before).map(({ reason }) => reason)
  }
  return { ...world, key, send, admin, facts, failures }
}

export type AccessWorld = Awaited<ReturnType<typeof openAccess>>
