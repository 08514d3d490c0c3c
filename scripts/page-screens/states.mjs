/** The states of the page that are worth a picture: what the model does, and how a person gets there. */

const call = (name, args) => ({ function_call: { name, arguments: args } });

export const OPENING = "`npm run build` passes on my Mac and fails here on the Linux runner. Find out why.";

const looking = {
  reasoning: [
    "**Locating the failing step**\n\nThe runner stops before anything is compiled, so a project file is the likely place, not a source file.",
    "**Comparing the two machines**\n\nThe Mac ignores case, Linux does not.",
    "**Choosing where to look**\n\nThe references of `packages/core` come first.",
  ],
};
const short = { reasoning: ["**Reading the error**\n\nThe file is named with a capital letter."] };
const read = call("read_file", { path: "packages/core/tsconfig.json" });
const run = call("run_command", { command: "npm run build" });
const answer = {
  message: `One project reference is spelled with a capital letter. \`packages/core/tsconfig.json\` points at \`../Shared\`, the folder is \`shared\`. The Mac’s disk ignores case and Linux does not, so \`tsc -b\` stops with exit 3 before it compiles a file.

## The change

\`\`\`json packages/core/tsconfig.json
{
  "extends": "../../tsconfig.base.json",
  "compilerOptions": { "composite": true, "outDir": "dist" },
  "references": [{ "path": "../shared" }]
}
\`\`\`

| Project | Mac | Runner | On the runner |
|---|---:|---:|---|
| shared | 1.9 s | 2.1 s | builds first |
| core | 4.1 s | – | reference not found |
| cli | 0.8 s | – | waits for core |

Your own guide has the rule already:

> Folders under \`packages/\` are lower case, without exception.

- [x] Cause found, and checked against the folder listing
- [ ] Change the one line
- [ ] Build again here, then on the Mac`,
};
const story = [{ output: [looking, read] }, { output: [short, run] }, { output: [short, answer] }];
const more = [
  ...story,
  { output: [short, { message: "Done: `npm run build` now runs `check-references` first." }] },
  { output: [looking, { message: "It covers every path that a project file names." }] },
];
const stalled = ["stall=after-event:60"];
const BOTH = ["light", "dark"];
const ALL = ["light", "dark", "phone", "phone-dark"];

const field = (page) => page.getByRole("textbox", { name: "Your message" });
const ended = (page, turns = 1) =>
  page
    .locator(".turn-end")
    .nth(turns - 1)
    .waitFor();
const allow = (page) => page.getByRole("button", { name: /Allow once/ }).click();

async function told(page) {
  await allow(page);
  await ended(page);
}

async function say(page, words, turns) {
  await field(page).fill(words);
  await page.keyboard.press("Enter");
  if (turns !== undefined) await ended(page, turns);
}

async function inspect(page, tab, isPhone) {
  if (isPhone) {
    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "Inspector" }).click();
  } else await page.getByRole("button", { name: "Inspector", exact: true }).click();
  await page.getByRole("tab", { name: tab }).click();
}

const top = (page) => page.locator(".scroller").evaluate((box) => box.scrollTo(0, 0));
const up = async (page) => {
  await page.locator(".scroller").hover();
  await page.mouse.wheel(0, -20_000);
  await page.getByText("Jump to latest").waitFor({ state: "attached" });
};

export const STATES = [
  {
    name: "reading",
    looks: ALL,
    steps: story,
    async look(page) {
      await told(page);
      await up(page);
      await page.locator(".tone-string").first().waitFor({ state: "attached" });
    },
  },
  {
    name: "thinking",
    looks: ALL,
    steps: [...story, { output: [looking, answer], faults: ["stall=after-event:22"] }],
    async look(page) {
      await told(page);
      await say(page, "Change it, and make sure this cannot happen again.");
      const row = page.locator(".row.is-live summary");
      await row.click();
      await say(page, "Also look at the paths in vitest.config.ts");
      await page.getByText("Take back").waitFor();
    },
  },
  {
    name: "permission",
    looks: ALL,
    steps: story,
    look: (page) => page.getByRole("group", { name: /Permission/ }).waitFor(),
  },
  {
    name: "unsent",
    looks: ALL,
    steps: more,
    async look(page) {
      await told(page);
      await page
        .getByRole("button", { name: /^Model|^More/ })
        .first()
        .click();
      const sheet = page.getByRole("menuitem", { name: "Model and effort" });
      if ((await sheet.count()) > 0) await sheet.click();
      await page.getByLabel("Model", { exact: true }).selectOption("emulator/emu-claude");
      await page.getByRole("button", { name: /^Switch to/ }).click();
      await page.locator(".is-unsent").first().waitFor();
      await page.locator(".is-unsent summary").first().click();
      await top(page);
    },
  },
  {
    name: "switch",
    looks: BOTH,
    steps: story,
    async look(page) {
      await told(page);
      await page.getByRole("button", { name: /^Model/ }).click();
      await page.getByLabel("Model", { exact: true }).selectOption("emulator/emu-claude");
      await page.getByRole("button", { name: /^Switch to/ }).waitFor();
    },
  },
  {
    name: "versions",
    looks: ALL,
    steps: more,
    async look(page) {
      await told(page);
      await say(page, "Change it, and make sure this cannot happen again.", 2);
      await page.locator(".turn").last().hover();
      await page.getByRole("button", { name: "Edit this message" }).last().click();
      await page
        .getByRole("textbox", { name: "Edited message" })
        .fill("Change it, and add a check to the build.");
      await page.getByRole("button", { name: /Send as version/ }).click();
      await page.getByText("It covers every path").waitFor();
      await page.getByRole("button", { name: /show all versions/ }).click();
    },
  },
  ...[
    ["request", "Request"],
    ["trace", "Trace"],
    ["plots", "Plots"],
    ["events", "Events"],
  ].map(([name, tab]) => ({
    name: `inspector-${name}`,
    looks: ALL,
    steps: more,
    async look(page, { isPhone }) {
      await told(page);
      await say(page, "Change it, and make sure this cannot happen again.", 2);
      await inspect(page, tab, isPhone);
      await page.getByRole("tabpanel").locator("table, svg, [role=tree], ol").first().waitFor();
    },
  })),
  {
    name: "inspector-block",
    looks: BOTH,
    steps: story,
    async look(page) {
      await told(page);
      await page.locator(".row.reasoning").first().hover();
      await page.getByRole("button", { name: "Inspect this thought" }).first().click();
      await page.getByRole("tabpanel").waitFor();
    },
  },
  {
    name: "first-start",
    looks: ALL,
    key: false,
    look: (page) => page.getByText("emulator").first().waitFor(),
  },
  {
    name: "server-away",
    looks: ALL,
    steps: [...story, { output: [looking, answer], faults: ["stall=after-event:70"] }],
    async look(page, { server }) {
      await told(page);
      await say(page, "Change it, and make sure this cannot happen again.");
      await page.locator(".row.is-live").waitFor();
      server.kill("SIGKILL");
      await page.getByText(/server is away/i).waitFor();
      await field(page).fill("And add the same check to the release workflow, it has its own list of");
    },
  },
  {
    name: "help",
    looks: BOTH,
    steps: story,
    async look(page) {
      await told(page);
      await page.locator(".scroller").focus();
      await page.keyboard.press("?");
      await page.getByRole("heading", { name: "Keys" }).waitFor();
    },
  },
  {
    name: "menu",
    looks: ["light", "phone"],
    steps: story,
    async look(page) {
      await told(page);
      await page.getByRole("button", { name: /^More/ }).click();
    },
  },
  {
    name: "failed",
    looks: BOTH,
    steps: [{ output: [looking, answer], faults: ["http=400"] }, { output: [answer] }],
    look: (page) => ended(page),
  },
  {
    name: "stopped",
    looks: BOTH,
    steps: [{ output: [short, answer], faults: stalled }],
    async look(page) {
      await page.locator(".block.text").first().waitFor();
      await page.getByRole("button", { name: /^Stop/ }).click();
      await ended(page);
    },
  },
];
