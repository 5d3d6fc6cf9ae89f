import { useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { api } from '../client/api.ts'
import { query, setQuery } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Keys } from './keys.tsx'
import { People } from './people.tsx'
import { Rules } from './rules.tsx'
import { Uses } from './uses.tsx'

const TABS = [
  ['people', 'People and services'],
  ['keys', 'Keys'],
  ['rules', 'Roles and rules'],
  ['uses', 'Who did what'],
] as const

/** Who may do what: people and services, their roles and keys, the rules, and the recorded uses. */
export function AccessScreen() {
  useTitle('Access')
  const tab = TABS.find(([name]) => name === query.value.get('tab'))?.[0] ?? 'people'
  const [round, setRound] = useState(0)
  const again = () => setRound((n) => n + 1)
  const found = useLoaded('access', () => take(api.v1.access.$get({})), round)
  return (
    <div class="screen">
      <div class="bar">
        <h1>Access</h1>
        <Me />
      </div>
      <CommandOutcome />
      <Loaded of={found}>
        {(access) =>
          access.on ? (
            <Tabs
              label="Access"
              tabs={TABS}
              at={tab}
              onChange={(name) => setQuery({ tab: name === 'people' ? null : name, principal: null })}
            >
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
              <div class="scroll" tabIndex={0}>
                {tab === 'people' && <People />}
                {tab === 'keys' && <Keys />}
                {tab === 'rules' && <Rules access={access} again={again} />}
                {tab === 'uses' && <Uses />}
              </div>
            </Tabs>
          ) : (
            <Off />
          )
        }
      </Loaded>
    </div>
  )
}

function Me() {
  const me = useLoaded('me', () => take(api.v1.access.me.$get({})))
  if (me === null || 'fault' in me || me.value.principal === null) return null
  return (
    <span class="quiet">
      You are <b>{me.value.principal}</b>
    </span>
  )
}

const Off = () => (
  <div class="notice">
    <h2>Access is off</h2>
    <p>
      One token opens everything, and the names of people are claimed. Turn access on, and each person and service gets
      a key of its own, each operation needs a right, and facts name who caused them. On the computer of the server,
      type:
    </p>
    <pre>keepup access init YOUR-ID</pre>
    <p class="quiet">It prints the key of the first admin. This page then needs a new link: keepup open.</p>
  </div>
)
