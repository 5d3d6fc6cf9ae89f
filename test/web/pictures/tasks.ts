import type { Locator, Page } from 'playwright-core'
import type { Story } from './story.ts'

// What people do on the page, each from the list of runs: the fourteen tasks that the page is made for.

/** The steps that a task may take. */
export const MOST_STEPS = 3

/** The sizes of the page in which tasks are done and pictures are taken. */
export const SIZES = { '': { width: 1440, height: 900 }, '-phone': { width: 390, height: 844 } } as const
export const THEMES = ['light', 'dark'] as const

/** A person's hand, which counts its steps: a click, a key, or a text that is typed. */
export class Hand {
  steps = 0
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  async click(what: Locator): Promise<void> {
    this.steps++
    await what.click()
  }

  async press(key: string): Promise<void> {
    this.steps++
    await this.page.keyboard.press(key)
  }

  async type(text: string): Promise<void> {
    this.steps++
    await this.page.keyboard.type(text)
  }

  /** Types into a field, which a touch of the field begins. */
  async fill(field: Locator, text: string): Promise<void> {
    this.steps++
    await field.fill(text)
  }

  /** Chooses a run in the list, which shows its older half after a scroll. */
  async run(runId: string): Promise<void> {
    const row = this.page.locator(`a.run-row[href="/runs/${runId}"]`)
    const list = this.page.getByRole('region', { name: 'Runs' })
    if ((await row.count()) === 0) await list.evaluate((one) => one.scrollTo(0, one.scrollHeight))
    await this.click(row)
  }

  /** Chooses a screen that is in sight. */
  screen(name: string): Promise<void> {
    return this.click(this.page.getByRole('navigation').getByRole('link', { name, exact: false }))
  }
}

/** What a task has to work with. */
export interface Place {
  readonly hand: Hand
  readonly page: Page
  readonly story: Story
  /** The page of a second person, on a screen. */
  friend(path: string): Promise<Page>
}

export interface Task {
  readonly name: string
  /** Prepares a run that only this task uses. */
  readonly before?: (story: Story) => Promise<string>
  /** Does the task, and waits until its result can be read. `run`: of `before`. */
  does(place: Place, run: string): Promise<void>
}

/** Waits until something can be read without scrolling the page. */
export async function inView(what: Locator): Promise<void> {
  await what.waitFor()
  const at = await what.elementHandle()
  const isSeen = (one: Element) => {
    const { top, bottom, left, right } = one.getBoundingClientRect()
    const x = (Math.max(0, left) + Math.min(innerWidth, right)) / 2
    const y = (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2
    const on = document.elementFromPoint(x, y)
    return on !== null && (one.contains(on) || on.contains(one))
  }
  await what.page().waitForFunction(isSeen, at as never)
}

const detail = (page: Page) => page.locator('.detail')
const tab = (page: Page, name: string) => detail(page).getByRole('tab', { name, exact: true })

export const TASKS: readonly Task[] = [
  {
    name: 'why did it fail',
    async does({ hand, page, story }) {
      await hand.run(story.runs.failed)
      await inView(page.locator('.reasons', { hasText: 'The model gave no answer' }).getByText('AUTHENTICATION'))
    },
  },
  {
    name: 'approve after reading',
    before: (story) => story.another('asks'),
    async does({ hand, page }, run) {
      await hand.run(run)
      await inView(page.locator('.ask .added').first())
      await inView(page.getByRole('button', { name: /^Approve/ }))
      await hand.click(page.getByRole('button', { name: /^Approve/ }))
      await page.getByText('Approved.').waitFor()
      await page.locator('.run-head .status.done').waitFor()
    },
  },
  {
    name: 'deny with a reason',
    before: (story) => story.another('publishes'),
    async does({ hand, page, story }, run) {
      await hand.run(run)
      await inView(page.locator('.ask .preview', { hasText: 'npm publish' }))
      await hand.fill(page.getByLabel('Reason'), 'The release is not announced yet.')
      await hand.press('Enter')
      await page.getByText('Rejected.').waitFor()
      const { approval } = await story.served.ask<{ approval: { state: string; decisionReason?: string } }>(
        'GET',
        `/v1/approvals/${run}.t1.c0`,
      )
      if (approval.state !== 'rejected') throw new Error(`the call is ${approval.state}`)
    },
  },
  {
    name: 'what did the model see at turn 7',
    async does({ hand, page, story }) {
      await hand.run(story.runs.done)
      await hand.click(page.getByRole('region', { name: 'Turns' }).getByRole('button', { name: /^turn 7\b/ }))
      await hand.click(tab(page, 'Request'))
      await inView(detail(page).getByText('What the model saw in turn 7'))
      await inView(detail(page).getByText(/^\d+ messages/))
    },
  },
  {
    name: 'which event changed a file',
    async does({ hand, page, story }) {
      await hand.run(story.runs.done)
      await hand.click(tab(page, 'Files'))
      await hand.click(detail(page).getByRole('button', { name: 'src/receipt.ts' }))
      await inView(
        detail(page)
          .getByRole('button', { name: /^Who wrote this\? write_file #\d+/ })
          .first(),
      )
    },
  },
  {
    name: 'compare a fork with its source',
    async does({ hand, page, story }) {
      await hand.run(story.runs.fork)
      await hand.click(page.locator('.run-head').getByRole('link', { name: 'Compare' }))
      await inView(page.getByText('fork of the other run'))
      await page.locator('.place-row').first().waitFor()
    },
  },
  {
    name: 'cost by model over time',
    async does({ hand, page }) {
      await hand.screen('Numbers')
      const chart = page.locator('figure', { hasText: 'Cost by model and day' })
      for (const model of ['claude-sonnet-4-5', 'claude-haiku-4-5', 'gpt-5.6-luna'])
        await inView(chart.getByText(model, { exact: true }))
      await chart.locator('canvas').waitFor()
      await inView(chart)
    },
  },
  {
    name: 'edit a document together',
    async does({ hand, page, story, friend }) {
      const words = `Tag first, ${hand.page.viewportSize()!.width}. `
      const other = await friend(`/documents/${story.document}?tab=edit`)
      await other.locator('.ProseMirror').waitFor()
      await hand.screen('Documents')
      await hand.click(page.getByRole('link', { name: 'Edit Plan for the release' }))
      await page.locator('.ProseMirror-focused').waitFor()
      await hand.type(words)
      await inView(page.locator('.ProseMirror', { hasText: words }))
      await other.locator('.ProseMirror', { hasText: words }).waitFor()
      await other.locator('.cursor .name', { hasText: 'ada' }).waitFor()
    },
  },
  {
    name: 'failing commands of the week',
    async does({ hand, page }) {
      await hand.click(page.getByRole('navigation').locator('summary'))
      await hand.screen('Audit')
      await hand.click(page.getByRole('button', { name: /^Commands that failed/ }))
      await page.getByRole('region', { name: 'Answer' }).getByText('npm test').first().waitFor()
      if ((await page.getByRole('combobox', { name: /^Of/ }).inputValue()) !== '1w')
        throw new Error('not the last week')
    },
  },
  {
    name: 'export',
    async does({ hand, page, story }) {
      await hand.run(story.runs.done)
      const saved = page.waitForEvent('download')
      await hand.click(page.getByRole('button', { name: 'Export' }))
      if ((await saved).suggestedFilename() !== `${story.runs.done}.ndjson`) throw new Error('another file is saved')
      await page.getByText('Exported:').waitFor()
    },
  },
  {
    name: 'unknown outcomes',
    async does({ hand, page }) {
      await hand.screen('Inbox')
      const ask = page.locator('.ask', { hasText: 'take effect?' })
      await ask.getByText('touch moved.txt').waitFor()
      await ask.getByText('timeoutMs').waitFor()
      await ask.getByRole('button', { name: 'It did not: run it' }).waitFor()
    },
  },
  {
    name: 'a tree of 20 agents',
    async does({ hand, page, story }) {
      await hand.run(story.runs.family)
      await inView(page.getByText('20 agents'))
      await hand.click(page.getByRole('tab', { name: 'All agents' }))
      await page.locator('.lane-bar.bar-tool').first().waitFor()
      await inView(page.locator('.lane').first())
      await inView(page.locator('.lane', { hasText: 'Lead the review of pricing' }))
    },
  },
  {
    name: 'follow a live run',
    before: (story) => story.another('live'),
    async does({ hand, page }, run) {
      await hand.run(run)
      await page.locator('.run-head .status.works').waitFor()
      const output = page.getByRole('region', { name: 'Output so far' })
      await inView(output)
      const first = await output.innerText()
      await page.waitForFunction((before) => {
        const now = (document.querySelector('.terminal.live') as HTMLElement | null)?.innerText
        return now !== undefined && now !== before
      }, first)
    },
  },
  {
    name: 'pause and resume',
    before: (story) => story.another('paced'),
    async does({ hand, page }, run) {
      await hand.run(run)
      await hand.click(page.getByRole('button', { name: 'Pause' }))
      await page.locator('.run-head .status.paused').waitFor()
      await hand.click(page.getByRole('button', { name: 'Resume' }))
      await page.locator('.run-head .status.works').waitFor()
    },
  },
]
