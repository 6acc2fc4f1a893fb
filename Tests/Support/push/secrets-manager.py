#!/usr/bin/env python3
"""moto's Secrets Manager, which checks signatures and rights, with the secrets `plain`, a text, and `member`, a JSON
object; the others hold what no secret is put into.

    secrets-manager.py DIRECTORY              prints its address and serves until its input ends; DIRECTORY/keys has the
                                              token, and DIRECTORY/reader one that may read alone
    secrets-manager.py DIRECTORY show NAME    prints the secret
"""

import json
import logging
import os
import pathlib
import sys

REGION = "eu-central-1"
MEMBERS = '{"other": 1.50, "number": 123456789012345678901}'
SECRETS = {
    "plain": {"SecretString": "eyJ.of.before"},
    "text": {"SecretString": "DB=x\nAPPLE=old\n"},
    "member": {"SecretString": MEMBERS},
    "binary": {"SecretBinary": b'{"other": 1, "apple": "old"}'},
    "list": {"SecretString": '["apple"]'},
    "twice": {"SecretString": '{"apple": "old", "apple": "twice"}'},
    "nested": {"SecretString": '{"apple": {"secret": "old"}}'},
}
USERS = {
    "keys": ["secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"],
    "reader": ["secretsmanager:GetSecretValue"],
}


def client(service, address, key="none", secret="none"):
    import boto3

    return boto3.client(
        service, region_name=REGION, endpoint_url=address, aws_access_key_id=key, aws_secret_access_key=secret)


def serve(directory):
    # What is made below, with three requests for each user; from then on every request is judged.
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(len(SECRETS) + 3 * len(USERS))
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    secrets = client("secretsmanager", address)
    for name, content in SECRETS.items():
        secrets.create_secret(Name=name, **content)
    users = client("iam", address)
    for name, actions in USERS.items():
        users.create_user(UserName=name)
        rights = {"Effect": "Allow", "Resource": "*", "Action": actions}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [rights]})
        users.put_user_policy(UserName=name, PolicyName="push", PolicyDocument=policy)
        key = users.create_access_key(UserName=name)["AccessKey"]
        (directory / name).write_text(
            f"AWS_ACCESS_KEY_ID={key['AccessKeyId']}\nAWS_SECRET_ACCESS_KEY='{key['SecretAccessKey']}'\n")
    (directory / "address").write_text(address)
    print(address, flush=True)
    sys.stdin.read()


def show(directory, name):
    keys = dict(line.split("=", 1) for line in (directory / "keys").read_text().splitlines())
    secrets = client(
        "secretsmanager", (directory / "address").read_text(), keys["AWS_ACCESS_KEY_ID"],
        keys["AWS_SECRET_ACCESS_KEY"].strip("'"))
    secret = secrets.get_secret_value(SecretId=name)
    print(secret.get("SecretString", secret.get("SecretBinary")))


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    show(place, sys.argv[3]) if sys.argv[2:3] == ["show"] else serve(place)
