"""An agent of one tool, with nothing but Python's standard library.

Its only tie to Haversack is the base URL: OPENAI_BASE_URL=http://127.0.0.1:8787/openai/v1
"""

import json
import os
import urllib.request

BASE_URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
API_KEY = os.environ.get("OPENAI_API_KEY", "")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "list_orders",
            "description": "Lists the orders of a customer",
            "parameters": {
                "type": "object",
                "properties": {"customer": {"type": "string"}},
                "required": ["customer"],
            },
        },
    }
]


def list_orders(customer):
    """What a real tool would read from a database."""
    return [
        {"id": n, "customer": customer, "state": "sent" if n % 7 else "lost", "total": 10 * n}
        for n in range(1, 101)
    ]


def ask_model(messages):
    """Sends the conversation and returns the next message of the model."""
    body = json.dumps({"model": MODEL, "messages": messages, "tools": TOOLS})
    request = urllib.request.Request(
        BASE_URL + "/chat/completions",
        data=body.encode(),
        headers={"content-type": "application/json", "authorization": "Bearer " + API_KEY},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["choices"][0]["message"]


def main():
    messages = [{"role": "user", "content": "Which orders of Ada were lost?"}]
    while True:
        message = ask_model(messages)
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:
            print(message["content"])
            return
        for call in calls:
            arguments = json.loads(call["function"]["arguments"])
            result = json.dumps(list_orders(**arguments))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


if __name__ == "__main__":
    main()
