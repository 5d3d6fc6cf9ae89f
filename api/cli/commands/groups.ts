import { isNear } from '../../operations/text/spelling.ts'

/** A group of commands, as `--help` shows it. */
export interface Group {
  readonly name: string
  /** What a person wants to do. */
  readonly purpose: string
  /** All commands of the group. `--help` shows the first ones. */
  readonly commands: readonly string[]
}

const words = (text: string): readonly string[] => text.split(' ')

/** Every command belongs to one group. */
export const GROUPS: readonly Group[] = [
  {
    name: 'run',
    purpose: 'start agents and steer them',
    commands: words(
      'run resume continue fork cancel pause step input serve worker demo messages agents acp mcp release-calls call',
    ),
  },
  {
    name: 'look',
    purpose: 'see what they did, and what it cost',
    commands: words(
      'runs search events tail tree transcript cost open result context expand request artifacts plan replay diff trace numbers models explain webhooks telemetry',
    ),
  },
  {
    name: 'decide',
    purpose: 'answer their questions, and set the rules',
    commands: words('approvals approve reject resolve permissions revoke decisions policy access retention hold'),
  },
  {
    name: 'prove',
    purpose: 'check the record, and hand it to others',
    commands: words('verify ask pack prove anchor witness drill repair release'),
  },
  {
    name: 'data',
    purpose: 'documents, secrets, SQL, exports, copies',
    commands: words(
      'docs secrets sql export backup restore erase memory stores streams consume consumers rebuild auditors',
    ),
  },
  {
    name: 'set up',
    purpose: 'check this machine, and fit keepup to it',
    commands: words('init doctor upgrade roles tools completion man'),
  },
]

/** The group of a name. `setup` names "set up". */
export const groupOf = (name: string): Group | undefined =>
  GROUPS.find((group) => group.name.replace(' ', '') === name.replace(/[ -]/g, ''))

/** Words that people type, and the commands that do what they mean. */
export const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ...{ ls: ['runs list'], list: ['runs list'], ps: ['runs list'], top: ['runs list'], jobs: ['runs list'] },
  ...{ show: ['runs show'], status: ['runs show', 'runs list'], inspect: ['runs show'], info: ['runs show', 'doctor'] },
  ...{
    log: ['events', 'transcript'],
    logs: ['events', 'transcript'],
    history: ['events'],
    chat: ['transcript', 'run'],
  },
  ...{ watch: ['tail'], follow: ['tail'], monitor: ['tail', 'numbers'], attach: ['tail', 'resume'] },
  ...{ start: ['run', 'serve'], new: ['run'], exec: ['run'], do: ['run'], spawn: ['run'] },
  ...{ retry: ['resume', 'continue'], unpause: ['resume'], restart: ['resume'] },
  ...{ stop: ['cancel', 'pause'], kill: ['cancel'], abort: ['cancel'], end: ['cancel'], rm: ['erase'] },
  ...{ delete: ['erase'], remove: ['erase'], forget: ['erase', 'memory forget'], clean: ['erase', 'retention sweep'] },
  ...{
    yes: ['approve'],
    allow: ['approve'],
    accept: ['approve'],
    no: ['reject'],
    deny: ['reject'],
    refuse: ['reject'],
  },
  ...{ reply: ['input'], answer: ['input', 'approve'], say: ['input'], send: ['input', 'messages send'] },
  ...{
    pending: ['approvals'],
    inbox: ['approvals'],
    questions: ['approvals', 'ask'],
    rules: ['policy', 'permissions'],
  },
  ...{ undo: ['restore'], rollback: ['restore'], revert: ['restore'], checkout: ['restore'], branch: ['fork'] },
  ...{ clone: ['fork'], copy: ['fork', 'backup'], compare: ['diff'], blame: ['trace'], why: ['trace', 'explain'] },
  ...{ price: ['cost'], bill: ['cost'], spend: ['cost'], usage: ['cost', 'numbers'], stats: ['numbers'] },
  ...{ metrics: ['numbers'], files: ['artifacts'], output: ['result'], prompt: ['request'], todo: ['plan'] },
  ...{ check: ['verify', 'doctor'], audit: ['verify', 'ask'], sign: ['anchor'], proof: ['prove'], fix: ['repair'] },
  ...{ grep: ['search'], find: ['search', 'runs list'], tags: ['runs tag', 'runs list'], notes: ['runs notes'] },
  ...{ query: ['sql'], db: ['sql'], tables: ['sql'], dump: ['export'], import: ['export'], save: ['backup'] },
  ...{ secret: ['secrets'], key: ['secrets', 'access key'], keys: ['secrets', 'access keys'], users: ['access list'] },
  ...{ ui: ['serve'], web: ['serve'], server: ['serve'], dashboard: ['serve'], up: ['serve'], daemon: ['serve'] },
  ...{ browser: ['open'], model: ['models'], role: ['roles'], tool: ['tools'], agent: ['agents'], team: ['agents'] },
  ...{ update: ['upgrade'], migrate: ['upgrade'], manual: ['man'] },
  ...{ install: ['init'], setup: ['init'], configure: ['init'], config: ['doctor'], diagnose: ['doctor'] },
}

/** Command names that a word may mean: those of its synonyms, otherwise the similar ones. */
export function meantBy(word: string, similar: readonly string[]): readonly string[] {
  const lower = word.toLowerCase()
  if (Object.hasOwn(SYNONYMS, lower)) return SYNONYMS[lower]!
  if (similar.length > 0) return similar
  const near = Object.keys(SYNONYMS).find((one) => one.length > 3 && isNear(lower, one))
  return near === undefined ? [] : SYNONYMS[near]!
}
