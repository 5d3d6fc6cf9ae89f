import { decoded } from '../page/decoded.ts'

/** Equivalent CLI and curl commands for a screen. */
export interface Ways {
  /** Null: no command shows this screen. */
  readonly keepup: string | null
  readonly curl: string
}

/** Quotes a word for a POSIX shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The key of the person, or the token from `KEEPUP_DATA` or the default data folder. */
const TOKEN = `"Authorization: Bearer \${KEEPUP_KEY:-$(cat "\${KEEPUP_DATA:-$HOME/.local/share/keepup}/token")}"`

/** The query parameters that have the same names as the command's options. */
const options = (query: URLSearchParams, names: readonly string[]): string =>
  names.flatMap((name) => (query.get(name) ? [` --${name} ${quoted(query.get(name)!)}`] : [])).join('')

function part(query: URLSearchParams, names: readonly string[]): string {
  const kept = new URLSearchParams(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])))
  return kept.size === 0 ? '' : `?${kept}`
}

const RUNS = ['status', 'role', 'model', 'over', 'since', 'until', 'text', 'person', 'file'] as const

/** The commands that show the same content as a URL of the page. */
export function waysTo({ pathname, searchParams: query, origin }: URL): Ways {
  const get = (path: string) => `curl -H ${TOKEN} ${quoted(origin + path)}`
  const [, kind, encoded] = /^\/(runs|documents)\/([^/]+)$/.exec(pathname) ?? []
  const id = encoded === undefined ? '' : decoded(encoded)
  if (kind === 'runs') return ofRun(id, query, get)
  if (kind === 'documents') return { keepup: `keepup docs show ${quoted(id)}`, curl: get(`/v1/documents/${encoded}`) }
  switch (pathname) {
    case '/inbox':
      return { keepup: 'keepup approvals', curl: get('/v1/approvals') }
    case '/documents':
      return { keepup: 'keepup docs list', curl: get('/v1/documents') }
    case '/compare':
      return ofComparison(query, get)
    case '/numbers': {
      const which = new URLSearchParams(query)
      if (!which.has('since')) which.set('since', '30d')
      if (which.get('since') === 'all') which.delete('since')
      const isCost = (query.get('tab') ?? 'cost') === 'cost'
      const command = isCost ? 'keepup cost --by day' : 'keepup numbers'
      const path = isCost ? '/v1/cost?by=day' : '/v1/numbers'
      const more = part(which, ['since', 'run'])
      return {
        keepup: command + options(which, ['since', 'run']),
        curl: get(path + (isCost ? more.replace('?', '&') : more)),
      }
    }
    case '/audit':
      return ofAudit(query, get, origin)
    case '/pack':
      return { keepup: 'keepup pack --check FILE', curl: get('/v1/packs?run=RUN').replace('curl', 'curl -o FILE') }
    case '/access':
      return ofAccess(query, get, origin)
    case '/retention':
      if (query.get('tab') !== 'holds') return { keepup: 'keepup retention', curl: get('/v1/retention') }
      return query.get('all') === 'true'
        ? { keepup: 'keepup hold list --all', curl: get('/v1/holds?all=true') }
        : { keepup: 'keepup hold list', curl: get('/v1/holds') }
    case '/health':
      return { keepup: 'keepup doctor', curl: get('/v1/doctor') }
    case '/webhooks':
      return { keepup: 'keepup webhooks', curl: get('/v1/webhooks') }
    case '/proof':
      return query.get('tab') === 'verify'
        ? { keepup: 'keepup verify', curl: get('/v1/proof/verify') }
        : { keepup: 'keepup call getProofStatus', curl: get('/v1/proof/status') }
    default:
      return {
        // The command has no options for these filters, so it would list other runs.
        keepup: query.get('waiting') || query.get('error') ? null : `keepup runs list${options(query, RUNS)}`,
        curl: get(`/v1/runs${part(query, [...RUNS, 'waiting', 'error'])}`),
      }
  }
}

type Get = (path: string) => string

function ofAccess(query: URLSearchParams, get: Get, origin: string): Ways {
  switch (query.get('tab')) {
    case 'keys':
      return {
        keepup: `keepup access keys${query.get('principal') ? ` ${quoted(query.get('principal')!)}` : ''}`,
        curl: get(`/v1/access/keys${part(query, ['principal'])}`),
      }
    case 'rules':
      return { keepup: 'keepup access show', curl: get('/v1/access') }
    case 'uses':
      return ofSql('select * from access_uses order by revision', origin)
    default:
      return { keepup: 'keepup access list', curl: get('/v1/access/principals') }
  }
}

function ofRun(id: string, query: URLSearchParams, get: Get): Ways {
  const [at, agent, path] = [query.get('at'), query.get('agent'), `/v1/runs/${encodeURIComponent(id)}`]
  if (at === null && agent === null) return { keepup: `keepup runs show ${quoted(id)}`, curl: get(path) }
  const which = new URLSearchParams({ ...(at === null ? {} : { event: at }), ...(agent === null ? {} : { agent }) })
  const said = [at === null ? '' : ` --event ${quoted(at)}`, agent === null ? '' : ` --agent ${quoted(agent)}`].join('')
  return { keepup: `keepup replay ${quoted(id)}${said}`, curl: get(`${path}/state?${which}`) }
}

function ofComparison(query: URLSearchParams, get: Get): Ways {
  const [a, b] = [query.get('a') ?? 'RUN', query.get('b') ?? 'OTHER']
  const [, agent] = /^(.+):\d+$/.exec(a) ?? []
  if (agent === undefined)
    return {
      keepup: `keepup diff ${quoted(a)} ${quoted(b)}`,
      curl: get(`/v1/runs/${encodeURIComponent(a)}/compare?with=${encodeURIComponent(b)}`),
    }
  return {
    keepup: `keepup diff ${quoted(agent)} ${quoted(a)} ${quoted(b)}`,
    curl: get(`/v1/runs/${encodeURIComponent(agent)}/diff?${new URLSearchParams({ a, b })}`),
  }
}

function ofAudit(query: URLSearchParams, get: Get, origin: string): Ways {
  const [tab, run, stream, sql] = ['tab', 'run', 'stream', 'sql'].map((name) => query.get(name))
  if (tab === 'proof')
    return run
      ? { keepup: `keepup verify ${quoted(run)}`, curl: get(`/v1/runs/${encodeURIComponent(run)}/verify`) }
      : { keepup: 'keepup verify RUN', curl: get('/v1/runs/RUN/verify') }
  if (tab === 'tables') return { keepup: 'keepup doctor', curl: get('/v1/projections') }
  if (tab === 'log')
    return stream
      ? { keepup: null, curl: get(`/v1/streams/${encodeURIComponent(stream)}/events`) }
      : { keepup: 'keepup tail', curl: get('/v1/events?from=head').replace('curl', 'curl -N') }
  return ofSql(sql ?? 'select 1', origin)
}

function ofSql(text: string, origin: string): Ways {
  const post = `curl -H ${TOKEN} -H 'Content-Type: application/json' ${quoted(`${origin}/v1/sql`)}`
  return { keepup: `keepup sql ${quoted(text)}`, curl: `${post} -d ${quoted(JSON.stringify({ sql: text }))}` }
}
